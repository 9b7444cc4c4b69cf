#!/usr/bin/python3
"""programs_test.py EINDB LAYER: runs the program on a disk that fails, with LAYER preloaded (tests/faults/layer).

The program ends by itself, without an internal error, and the next program finds the old state or the new one.
EINDB_FAULTS=all tries every operation, EINDB_FAULTS_PLACES sets the number otherwise.
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from trials import Trials  # noqa: E402

LAYER = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 2 else None
EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
ALL = os.environ.get("EINDB_FAULTS") == "all"
PLACES = int(os.environ.get("EINDB_FAULTS_PLACES", "15"))
MAKE = "CREATE TENSOR A PARTITION (2, 2) AS EINSUM A[i 20, j 20] = i * j + 1"


class ProgramsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve() / "watched"
        self.folder.mkdir()
        self.report = self.folder.parent / "report"

    def run_eindb(self, statement, fault=None):
        environment = dict(os.environ)
        if fault is not None:
            environment["LD_PRELOAD"] = LAYER
            environment["EINDB_FAULT"] = f"under={self.folder} report={self.report} {fault}"
        return subprocess.run([EINDB, "--csv", "--noheader", str(self.folder / "my.db"), "-c", statement],
                              capture_output=True, text=True, timeout=240, env=environment)

    def value(self, statement):
        done = self.run_eindb(statement)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def places(self, statement):
        """The number of operations of a statement that can fail."""
        done = self.run_eindb(statement, "first=1000000000")
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(self.report.read_text().split()[0].removeprefix("seen="))


    def sweep(self, statement, undo, states):
        self.value(MAKE)
        trials = Trials("program_faults")
        last = self.places(statement)
        self.value(undo)
        for first in range(1, last + 1, 1 if ALL else max(1, last // PLACES)):
            done = self.run_eindb(statement, f"first={first}")
            with self.subTest(first=first, said=done.stderr), trials.trial():
                self.assertIn(done.returncode, (0, 1))
                self.assertNotIn("internal", done.stderr)
                self.assertEqual(self.value("PRAGMA integrity_check"), "ok")
                state = self.value("SELECT COUNT(*) FROM eindb_tensors")
                self.assertIn(state, states)
                if done.returncode == 0:
                    self.assertEqual(state, states[-1])
                if state == states[-1]:
                    self.value(undo)
        trials.print()

    def test_create(self):
        self.sweep("CREATE TENSOR B AS EINSUM B[i,k] = SUM(A[i,j] * A[j,k])", "DROP TENSOR B", ("1", "2"))

    def test_drop(self):
        self.sweep("DROP TENSOR A", MAKE, ("1", "0"))

    def test_pages_that_cannot_be_read_end_no_program(self):
        self.value(MAKE)
        done = self.run_eindb("SELECT SUM(val) FROM A", "count=1000 operations=map path=my.db$ unreadable=1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a page of it cannot be read", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
