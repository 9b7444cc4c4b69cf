#!/usr/bin/python3
"""durability_test.py EINDB: tests the guarantees for users' files, from outside the program.

A killed statement leaves the old state or the new one. A failed one leaves nothing, neither a tensor nor a part of a
file. A file larger than the memory can be imported and exported. Paths that cannot be written give an error.
"""
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import numpy as np

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
MEBIBYTE = 1 << 20


class DurabilityTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_eindb(self, *arguments, **options):
        return subprocess.run([EINDB, *map(str, arguments)], capture_output=True, text=True, timeout=240,
                              cwd=self.folder, **options)

    def assert_fails(self, words, *arguments, **options):
        done = self.run_eindb(*arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)


class Killed(DurabilityTest):
    def check(self, statement, tensor, cells):
        """Kills `statement` at random moments. Afterwards `tensor` exists completely or not at all."""
        rng = random.Random(5)
        whole = 0
        for _ in range(12):
            process = subprocess.Popen([EINDB, "my.db", "-c", statement], cwd=self.folder, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.0, 0.25))
            process.send_signal(signal.SIGKILL)
            process.wait()
            tables = self.run_eindb("--csv", "--noheader", "my.db", "-c",
                                    "SELECT name FROM sqlite_schema WHERE name LIKE 'eindb_tiles_%'; PRAGMA integrity_check")
            self.assertEqual(tables.returncode, 0, tables.stderr)
            names = tables.stdout.split()
            self.assertEqual(names.pop(), "ok")
            self.assertLessEqual(set(names), {"eindb_tiles_Old", f"eindb_tiles_{tensor}"})
            if f"eindb_tiles_{tensor}" in names:
                whole += 1
                count = self.run_eindb("--csv", "--noheader", "my.db", "-c",
                                       f"EINSUM n[] = SUM(CASE WHEN {tensor}[i,j] = {tensor}[i,j] THEN 1 ELSE 0 END);"
                                       f"DROP TENSOR {tensor}")
                self.assertEqual(count.returncode, 0, count.stderr)
                self.assertEqual(float(count.stdout), cells)
        return whole

    def test_create_tensor_as(self):
        self.run_eindb("my.db", "-c", "CREATE TENSOR Old AS EINSUM Old[i 3] = i")
        self.check("CREATE TENSOR New AS EINSUM New[i 1500, j 1500] = RANDOM(1) + 1", "New", 1500 * 1500)
        self.assertEqual(self.run_eindb("--csv", "--noheader", "my.db", "-c", "EINSUM s[] = SUM(Old[i])").stdout, "3.0\n")

    def test_copy(self):
        self.run_eindb("my.db", "-c", "CREATE TENSOR Old AS EINSUM Old[i 3] = i")
        np.save(self.folder / "new.npy", np.ones((3000, 1500), np.float32))
        self.check("COPY New FROM 'new.npy'", "New", 3000 * 1500)


class LargerThanMemory(DurabilityTest):
    def test_import_and_export_take_little_memory(self):
        """256 MiB are imported and exported with 96 MiB of memory. Mapped pages of the database are in the system's
        cache and do not count."""
        values = np.lib.format.open_memmap(self.folder / "big.npy", mode="w+", dtype=np.float32, shape=(8192, 8192))
        values[:] = np.arange(8192, dtype=np.float32)[:, None] * 3 + np.arange(8192, dtype=np.float32)
        values.flush()
        limits = (96 * MEBIBYTE, 96 * MEBIBYTE)
        for statement in ("COPY big FROM 'big.npy'", "COPY big TO 'again.npy'"):
            done = self.run_eindb("my.db", "-c", statement,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limits))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(np.array_equal(np.load(self.folder / "again.npy", mmap_mode="r"), values))


class Refused(DurabilityTest):
    def test_a_file_that_is_no_database(self):
        (self.folder / "text.db").write_text("this is no database, however long it may be " * 100)
        self.assert_fails(["text.db", "not a database"], "text.db", "-c", "SHOW TENSORS")
        self.assertTrue((self.folder / "text.db").read_text().startswith("this is no database"))

    def test_a_directory_in_place_of_the_file(self):
        self.assert_fails([str(self.folder)], self.folder, "-c", "SHOW TENSORS")

    def test_a_read_only_directory(self):
        if os.geteuid() != 0:
            self.folder.chmod(0o555)
            self.addCleanup(self.folder.chmod, 0o755)
            self.assert_fails(["my.db"], "my.db", "-c", "CREATE TENSOR X (i 3)")
            return
        # Permissions of directories do not restrict root. So the program runs as the user nobody, from a public folder.
        public = Path(tempfile.mkdtemp(dir="/tmp"))
        self.addCleanup(shutil.rmtree, public)
        public.chmod(0o755)
        shutil.copy(EINDB, public / "eindb")
        (public / "eindb").chmod(0o755)
        self.run_eindb(public / "old.db", "-c", "CREATE TENSOR X AS EINSUM X[i 3] = i")
        for path, statement in ((public / "new.db", "CREATE TENSOR Y (i 3)"), (public / "old.db", "DROP TENSOR X")):
            done = subprocess.run([public / "eindb", path, "-c", statement], capture_output=True, text=True, user=65534,
                                  cwd="/")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn(path.name, done.stderr)
        self.assertFalse((public / "new.db").exists())
        self.assertEqual(self.run_eindb("--csv", "--noheader", public / "old.db", "-c", "EINSUM s[] = SUM(X[i])").stdout,
                         "3.0\n")

    def test_a_failed_export_leaves_no_file(self):
        done = self.run_eindb("-c", "CREATE TENSOR C AS EINSUM C[i 2] = CAST(i AS COMPLEX64); COPY C TO 'c.csv'")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_failed_import_leaves_no_tensor(self):
        (self.folder / "bad.csv").write_text("1,2\n" * 5000 + "3\n")
        self.assert_fails(["bad.csv", "line 5001"], "my.db", "-c", "COPY X FROM 'bad.csv'")
        self.assertEqual(self.run_eindb("--csv", "--noheader", "my.db", "-c", "SHOW TENSORS").stdout, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
