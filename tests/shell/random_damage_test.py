#!/usr/bin/python3
"""random_damage_test.py EINDB: damages databases and files of other formats at random, in their bytes or in the values
of eindb's own tables. Whatever they contain, the program ends by itself, in time, within a limit of memory, without a
signal and without an internal error.

EINDB_DAMAGE_TRIES sets the number of tries (default 60), EINDB_DAMAGE_SEED the seed of the choices (1).
EINDB_DAMAGE_ONLY runs a single try, such as one that failed.
"""
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from trials import Trials  # noqa: E402

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
TRIES = int(os.environ.get("EINDB_DAMAGE_TRIES", "60"))
SEED = int(os.environ.get("EINDB_DAMAGE_SEED", "1"))
ONLY = os.environ.get("EINDB_DAMAGE_ONLY")
MEMORY = 1 << 30
SECONDS = 240
FORMATS = ("npy", "npz", "safetensors", "h5", "csv", "tsv", "mtx", "tns")
MAKE = """
CREATE TENSOR A PARTITION (2, 2) AS EINSUM A[i 20, j 20] = i * j + 1;
CREATE TENSOR B FLOAT32 PARTITION (3) AS EINSUM B[i 3000] = i + 1;
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
CREATE INDEX u ON t (b);
INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three');
CREATE USER ada PASSWORD 'secret' ADMIN;
"""
STATEMENTS = (
    "SHOW TENSORS; DESCRIBE A",
    "EINSUM Z[i] = SUM(A[i,j] * B[j])",
    "SELECT i, SUM(val) FROM A GROUP BY i",
    "SELECT * FROM t JOIN B ON b.i = t.a ORDER BY t.b",
    "UPDATE TENSOR A[i,j] = A[i,j] + 1",
    "INSERT INTO t VALUES (9, 'nine'); DELETE FROM t WHERE a < 2",
    "CREATE TENSOR C AS EINSUM C[i,k] = SUM(A[i,j] * A[j,k])",
    "ALTER TENSOR A PARTITION (1, 4)",
    "DROP TENSOR A",
    "COPY A TO 'out.npy'",
    "SHOW USERS",
    "PRAGMA integrity_check",
)
VALUES = (0, 1, -1, 7, 2**31, 2**40, 2**62, -(2**63), 2**63 - 1, 0.5, 1e300, "", "x", "A", "x" * 5000, "\0", b"\xff" * 9, None)


def damage_bytes(rng, content):
    """Changes some bytes or bits, removes, doubles or moves a piece, or cuts off the end."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8, 40))):
        if not data:
            break
        # Most places are in headers, where damage has the most effects.
        place = rng.randrange(min(len(data), rng.choice((100, 600, len(data)))))
        size = rng.choice((1, 4, 100, 4096))
        how = rng.randrange(7)
        if how == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif how == 2:
            data[place : place + size] = rng.randbytes(size)
        elif how == 3:
            data[place : place + size] = bytes(size)
        elif how == 4:
            del data[place : place + size]
        elif how == 5:
            data[place:place] = data[place : place + size]
        else:
            del data[rng.randrange(len(data)) :]
    return bytes(data)


def damage_tables(rng, path):
    """Changes values in eindb's own tables, or deletes rows of them."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'eindb%'"
    tables = [name for (name,) in connection.execute(names)]
    for _ in range(rng.choice((1, 2, 5))):
        table = rng.choice(tables)
        column = rng.choice([row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')])
        which = rng.choice(("1", "random() % 2 = 0"))
        try:
            if rng.random() < 0.2:
                connection.execute(f'DELETE FROM "{table}" WHERE {which}')
            else:
                connection.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE {which}', (rng.choice(VALUES),))
        except sqlite3.Error:
            pass  # the table refuses the value
    connection.commit()
    connection.close()


class RandomDamage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.originals = Path(folder.name)
        cls.run_eindb(cls.originals, "my.db", MAKE)
        for kind in FORMATS:
            cls.run_eindb(cls.originals, "my.db", f"COPY A TO 'in.{kind}'")

    @staticmethod
    def run_eindb(folder, *arguments):
        *database, statements = arguments

        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

        return subprocess.run([EINDB, *database, "--threads", "2", "-c", statements], capture_output=True, text=True,
                              errors="replace", cwd=folder, timeout=SECONDS, preexec_fn=limit)  # fmt: skip

    def check(self, what, folder, *arguments):
        try:
            done = self.run_eindb(folder, *arguments)
        except subprocess.TimeoutExpired:
            self.fail(f"{what}: it does not end")
        self.assertIn(done.returncode, (0, 1), f"{what}: {done.stderr}")
        self.refused += done.returncode
        for words in ("internal error", "broken invariant"):
            self.assertNotIn(words, done.stderr, what)

    def damaged_database(self, rng, folder):
        path = folder / "my.db"
        shutil.copy(self.originals / "my.db", path)
        if rng.random() < 0.5:
            path.write_bytes(damage_bytes(rng, path.read_bytes()))
        else:
            damage_tables(rng, path)
        for statement in rng.sample(STATEMENTS, 3):
            self.check(statement, folder, "my.db", statement)

    def damaged_file(self, rng, folder):
        name = f"in.{rng.choice(FORMATS)}"
        (folder / name).write_bytes(damage_bytes(rng, (self.originals / name).read_bytes()))
        self.check(name, folder, f"COPY X FROM '{name}'; EINSUM Z[] = COUNT_NONZERO(X[i,j])")

    def attempt(self, number):
        rng = random.Random(f"{SEED} damage {number}")
        with tempfile.TemporaryDirectory() as folder:
            (self.damaged_file if number % 2 else self.damaged_database)(rng, Path(folder))

    def test_the_program_ends_by_itself(self):
        trials = Trials("random_damage")
        self.addCleanup(trials.print)
        self.refused = 0
        for number in range(TRIES) if ONLY is None else [int(ONLY)]:
            with self.subTest(seed=SEED, number=number):
                with trials.trial():
                    self.attempt(number)
        print(f"{self.refused} statements were refused", flush=True)
        if trials.tries >= 10:
            self.assertGreater(self.refused, trials.tries // 10, "the damage is none")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
