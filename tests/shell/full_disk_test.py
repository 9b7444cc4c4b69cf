"""Tests the statements that work when the disk of a database is full. A limit on the size of its files simulates that.

    full_disk_test.py EINDB
"""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

EINDB = sys.argv.pop(1)


class FullDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.database = os.path.join(folder.name, "my.db")
        self.shell = subprocess.Popen(
            [EINDB, self.database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            restore_signals=False, preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
        )  # fmt: skip
        self.run_in_shell(".bail off")

    def tearDown(self):
        self.shell.communicate(timeout=240)

    def run_in_shell(self, statement):
        """The output of a statement."""
        self.shell.stdin.write(f"{statement}\nSELECT 'that was all' AS mark;\n")
        self.shell.stdin.flush()
        said = ""
        while not said.endswith("that was all\n"):
            line = self.shell.stdout.readline()
            self.assertNotEqual(line, "", said)
            said += line
        return said.removesuffix("mark\nthat was all\n")

    def limit_files(self, size):
        resource.prlimit(self.shell.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def test_a_tensor_can_be_dropped_and_its_room_used_again(self):
        create = "CREATE TENSOR {0} AS EINSUM {0}[i 300, j 1000] = RANDOM({1});"
        self.run_in_shell(create.format("A", 1))
        reader = sqlite3.connect(self.database)
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM eindb_tensors").fetchall()
        # The log grows, since a reader uses the earlier state.
        self.run_in_shell(create.format("B", 2))
        self.limit_files(os.path.getsize(self.database + "-wal"))
        said = self.run_in_shell("DROP TENSOR A;")
        self.assertIn("input/output error", said)  # no space can be freed while the reader reads
        reader.execute("COMMIT")
        self.assertEqual(self.run_in_shell("DROP TENSOR A;"), "")
        self.assertEqual(self.run_in_shell(create.format("C", 3)), "")
        self.assertIn("1.0", self.run_in_shell("EINSUM n[] = MEAN(C[i,j] + B[i,j] >= 0);"))
        reader.close()


if __name__ == "__main__":
    unittest.main()
