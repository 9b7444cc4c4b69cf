#!/usr/bin/python3
"""damaged_tiles_test.py EINDB: a tile with changed bytes ends every statement that reads it, with an error that names
tensor and key, and without a partial effect. Other tiles stay readable."""
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
NAMED = r"tile \[1, 0\] of tensor X is damaged"
READERS = {
    "element-wise": "EINSUM Z[i,j] = X[i,j] + 1",
    "reduction": "EINSUM Z[] = SUM(X[i,j])",
    "extreme": "EINSUM Z[i] = MAX(X[i,j])",
    "product": "EINSUM Z[i,k] = SUM(X[i,j] * X[j,k])",
    "product with another": "EINSUM Z[i,k] = SUM(W[i,j] * X[j,k])",
    "general": "EINSUM Z[i,k] = SUM((X[i,j] - W[j,k])^2)",
    "softmax": "EINSUM Z[i,j] = softmax(X[i,j], j)",
    "rows": "SELECT sum(val) FROM X",
    "stored": "CREATE TENSOR Y AS EINSUM Y[i,k] = SUM(X[i,j] * X[j,k])",
    "exported": "COPY X TO 'x.npy'",
    "cut anew": "ALTER TENSOR X PARTITION (1, 4)",
    "analyzed": "EXPLAIN ANALYZE EINSUM Z[] = SUM(X[i,j])",
}


class DamagedTiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        done = self.run_statements(
            "CREATE TENSOR X PARTITION (2, 2) AS EINSUM X[i 40, j 40] = i + j + 1;"
            "CREATE TENSOR W PARTITION (2, 2) AS EINSUM W[i 40, j 40] = i - j")
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_statements(self, statements, *options):
        return subprocess.run([EINDB, *options, "a.db", "--noheader", "-c", statements], capture_output=True, text=True,
                              cwd=self.folder, timeout=240)

    def damage(self, change):
        """Changes the bytes of tile [1, 0] of X."""
        connection = sqlite3.connect(self.folder / "a.db")
        (tile,) = connection.execute("SELECT tile FROM eindb_tiles_X WHERE i = 1 AND j = 0").fetchone()
        connection.execute("UPDATE eindb_tiles_X SET tile = ? WHERE i = 1 AND j = 0", (change(bytearray(tile)),))
        connection.commit()
        connection.close()

    def flip(self, place):
        def change(tile):
            tile[place] ^= 1
            return bytes(tile)
        self.damage(change)

    def assert_every_reader_stops(self):
        for kind, statement in READERS.items():
            with self.subTest(kind):
                for threads in ("1", "4"):
                    done = self.run_statements(statement, "--threads", threads)
                    self.assertEqual(done.returncode, 1, done.stdout)
                    self.assertRegex(done.stderr, NAMED)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.db"])
        self.assertEqual(self.run_statements("DESCRIBE Y").returncode, 1)
        self.assertEqual(self.run_statements("EINSUM Z[] = SUM(W[i,j])").stdout, "0.0\n")

    def test_a_bit_of_the_values(self):
        self.flip(-1)
        self.assert_every_reader_stops()

    def test_a_bit_of_the_checksum(self):
        self.flip(16)
        self.assert_every_reader_stops()

    def test_the_end_is_missing(self):
        self.damage(lambda tile: bytes(tile[:-8]))
        self.assert_every_reader_stops()

    def test_nothing_is_left(self):
        self.damage(lambda tile: b"")
        self.assert_every_reader_stops()

    def test_every_byte_is_guarded(self):
        """A change of any byte of the header and the first values is detected: a statement that reads the tile gives an
        error and no number."""
        for place in range(0, 96):
            self.flip(place)
            done = self.run_statements("EINSUM Z[] = SUM(X[i,j])")
            self.assertEqual((done.returncode, done.stdout), (1, ""), place)
            self.flip(place)
        self.assertEqual(self.run_statements("EINSUM Z[] = SUM(X[i,j])").returncode, 0)

    def test_tiles_beside_it_are_read(self):
        self.flip(-1)
        done = self.run_statements("SELECT sum(val) FROM X WHERE i < 20")
        self.assertEqual((done.returncode, done.stdout), (0, "24000.0\n"))
        done = self.run_statements("EINSUM Z[] = SUM(X[3,j])")
        self.assertEqual((done.returncode, done.stdout), (0, "940.0\n"))

    def test_the_session_goes_on(self):
        self.flip(-1)
        script = ".bail off\nEINSUM Z[] = SUM(X[i,j]);\nEINSUM Z[] = SUM(X[3,j]);\n"
        done = subprocess.run([EINDB, "a.db", "--noheader"], input=script, capture_output=True, text=True,
                              cwd=self.folder, timeout=240)
        self.assertRegex(done.stderr, NAMED)
        self.assertEqual(done.stdout, "940.0\n")


if __name__ == "__main__":
    unittest.main()
