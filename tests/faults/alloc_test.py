#!/usr/bin/python3
"""alloc_test.py EINDB SHIM: statements during which the n-th allocation, memory mapping or thread fails, for every n.

Each leaves the old state and a clear error, or the new state. The session continues, and the statement then succeeds. A
fresh process is used for each n. EINDB_FAULTS=all tries every n; by default a sample is tried, with the seed
EINDB_FAULTS_SEED.
"""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

from alloc_control import ALLOCATIONS, MAPS, THREADS, Control, Tally, trials
from alloc_shell import Died, Hung, Shell

SHIM = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else None
EINDB = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None

TEMPLATE = """
CREATE TENSOR A PARTITION (2, 2) AS EINSUM A[i 6, j 6] = i * 6 + j;
CREATE TENSOR B PARTITION (2, 2) AS EINSUM B[i 6, j 6] = (i + 1) / (j + 1);
CREATE TENSOR L PARTITION (2, 2) AS EINSUM L[i 80, j 80] = i - j;
CREATE TABLE t (name TEXT, n INTEGER);
INSERT INTO t VALUES ('a', 1), ('b', 2);
COPY B TO 'in.npy'; COPY B TO 'in.csv'; COPY B TO 'in.h5';
"""
FACTORS = "(U, s, V) = SVD({0}), (Q, R) = QR({0}) EINSUM Z[k] = s[k] + U[0,k] + V[0,k] + Q[0,k];"
LARGE_FACTORS = "WITH M[i 150, j 140] = SIN(i * j), " + FACTORS.format("M[i,j]")
ROUNDS = "REPEAT %d COMMIT EVERY 1 { UPDATE TENSOR A[i,j] = A[i,j] + 1; }"


@dataclass(frozen=True)
class Case:
    name: str
    statement: str
    before: str = "SET threads = 1;"
    kinds: int = ALLOCATIONS
    between: tuple = ()  # statements that lead to the states in which this one may stop


CASES = [
    Case("create tensor as", "CREATE TENSOR N AS EINSUM N[i,k] = SUM(A[i,j] * B[j,k]) + 1;"),
    Case("create tensor", "CREATE TENSOR N (i 6, j 6) FLOAT32 PARTITION (2, 2);"),
    Case("copy from npy", "COPY N FROM 'in.npy';"),
    Case("copy from csv", "COPY N FROM 'in.csv';"),
    Case("copy from hdf5", "COPY N FROM 'in.h5';"),
    Case("copy to npy", "COPY A TO 'out.npy';"),
    Case("copy to csv", "COPY A TO 'out.csv';"),
    Case("copy to hdf5", "COPY A TO 'out.h5';"),
    Case("add to hdf5", "COPY A TO 'in.h5';"),
    Case("update", "UPDATE TENSOR A[i,j] = A[i,j] * 2 + B[j,i];"),
    Case("insert into tensor", "INSERT INTO TENSOR A VALUES (0, 0, 5.5), (5, 5, 6.5);"),
    Case("repeat", ROUNDS % 3, between=(ROUNDS % 1, ROUNDS % 2)),
    Case("drop", "DROP TENSOR A;"),
    Case("insert", "INSERT INTO t SELECT name || 'x', n + 10 FROM t;"),
    Case("einsum", "EINSUM s[i] = SUM(A[i,j] * B[j,i]) + MAX[j](A[i,j]);"),
    Case("select", "SELECT t.name, a.i, SUM(a.val) FROM t JOIN A a ON a.i = t.n GROUP BY 1, 2 ORDER BY 1;"),
    Case("create user", "CREATE USER ada PASSWORD 'secret' ADMIN;"),
    Case("einsum, threads", "EINSUM s[i] = MAX[k](SUM[j](L[i,j] * L[j,k]));", "SET threads = 2;"),
    Case("einsum, calls", "EINSUM s[i] = MAX[k](SUM[j](L[i,j] * L[j,k]));", "SET threads = 1; SET parallelism = 8;"),
    Case("einsum, maps", "EINSUM s[i] = MAX[k](SUM[j](L[i,j] * L[j,k]));", "SET threads = 2;", MAPS),
    Case("einsum, no threads", "EINSUM s[i] = MAX[k](SUM[j](L[i,j] * L[j,k]));", "SET threads = 4;", THREADS),
    Case("create tensor as, maps", "CREATE TENSOR N AS EINSUM N[i,k] = SUM(A[i,j] * B[j,k]) + 1;", kinds=MAPS),
    Case("factors", "WITH " + FACTORS.format("A[i,j]")),
    Case("factors, threads", LARGE_FACTORS, "SET threads = 2;"),
    Case("factors, maps", LARGE_FACTORS, "SET threads = 2;", MAPS),
    Case("copy to hdf5, maps", "COPY A TO 'out.h5';", kinds=MAPS),
]


def is_clear(error):
    """Whether an error is about memory, threads or processes and has a hint. If libhdf5 fails, the error says that
    memory may be short: a damaged file cannot be told from a failed allocation."""
    words = ("memory limit: ", "cannot start a thread", "cannot start a process", "memory may be short")
    return any(word in error for word in words) and "\n  hint: " in error


class Attempt:
    """One process that runs a statement with a failing call, checks the state, and runs the statement again."""

    def __init__(self, template, case, control, between=()):
        self._folder = tempfile.TemporaryDirectory(prefix="eindb-alloc-")
        self.folder = Path(self._folder.name)
        for file in template.iterdir():
            shutil.copy(file, self.folder)
        self.control, self.case, self.between = control, case, between

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def state(self):
        """A summary of all rows of the database, and of all files beside it."""
        found = []
        with sqlite3.connect(f"file:{self.folder}/my.db?mode=ro", uri=True, timeout=240) as file:
            tables = [name for (name,) in file.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]  # fmt: skip
            for table in tables:
                rows = [row for row in file.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2')]
                if table in ("eindb_users", "eindb_secrets", "eindb_loops"):
                    continue  # these contain salts and the progress of loops
                found.append((table, hashlib.md5(repr(rows).encode()).hexdigest()))
        file.close()
        for path in sorted(self.folder.iterdir()):
            if not path.name.startswith("my.db"):
                found.append((path.name, hashlib.md5(path.read_bytes()).hexdigest()))
        return found

    def run(self, first, number=1):
        """(result, failed calls, calls, output). The result is "done", "refused" or a description of a failure."""
        try:
            shell = Shell(EINDB, self.control, self.folder)
        except (Died, Hung) as problem:
            return f"does not start: {problem!r}", 0, 0, ""
        try:
            shell.run(".bail off")
            shell.run(self.case.before)
            before = self.state()
            try:
                output, error, calls, failed = shell.run(self.case.statement, first, number, self.case.kinds)
            except Died as death:
                if death.args[0] == 1 and is_clear(shell.last[1]) and self.state() == before:
                    return "refused", shell.last[3], shell.last[2], ""  # there was no memory to read the statement
                return f"died: {death.args[0]} {shell.last[1]}", shell.last[3], shell.last[2], ""
            except Hung:
                return f"hung: {shell.last[1]}", shell.last[3], shell.last[2], ""
            result = self.judge(shell, before, output, error)
            return result, failed, calls, output
        finally:
            self.status = shell.close()

    def judge(self, shell, before, output, error):
        state = self.state()
        if not error:
            return "done"
        if not is_clear(error):
            return f"no clear error: {error.strip()}"
        if state != before and state not in self.between:
            return f"refused, but something changed: {[x for x in state if x not in before]}: {error.strip()}"
        try:
            output, error, _, _ = shell.run(self.case.statement)
            error = "".join(line for line in error.splitlines(True) if not line.startswith("note: "))
        except (Died, Hung) as problem:
            return f"the next statement {problem!r}"
        if error:
            return f"the next statement fails: {error.strip()}"
        self.again = (self.state(), output)
        return "refused"


class Enumeration(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory(prefix="eindb-alloc-")
        cls.template = Path(cls._folder.name)
        subprocess.run([EINDB, "my.db", "-c", TEMPLATE], check=True, cwd=cls.template, timeout=240)
        cls.control = Control(SHIM)

    @classmethod
    def tearDownClass(cls):
        cls.control.close()
        cls._folder.cleanup()

    def states_between(self, case):
        states = []
        for statement in case.between:
            with Attempt(self.template, Case(case.name, statement, case.before), self.control) as attempt:
                self.assertEqual(attempt.run(0)[0], "done")
                states.append(attempt.state())
        return states

    def check(self, case):
        between = self.states_between(case)
        with Attempt(self.template, case, self.control) as attempt:
            result, _, calls, output = attempt.run(0)
            self.assertEqual(result, "done")
            new = (attempt.state(), output)
        tally = Tally(case.name)
        for trial in trials(calls):
            with Attempt(self.template, case, self.control, between) as attempt:
                attempt.again = None
                result, failed, _, output = attempt.run(*trial)
                state = (attempt.state(), output)
                if failed == 0:
                    continue
                problem = None
                if result == "done" and state != new:
                    problem = f"another result: {output} {[x for x in state[0] if x not in new[0]]}"
                if result == "refused" and attempt.again not in (None, new):
                    problem = f"another result when it is run again: {attempt.again[1]}"
                if result in ("done", "refused") and attempt.status not in (0, 1):
                    problem = f"ends with status {attempt.status}"
                tally.add(trial, result, problem)
        tally.report(calls)
        self.assertEqual(tally.problems, [])


def add(case):
    def test(self):
        self.check(case)

    setattr(Enumeration, "test_" + case.name.replace(", ", "_").replace(" ", "_"), test)


for each in CASES:
    add(each)

if __name__ == "__main__":
    unittest.main()
