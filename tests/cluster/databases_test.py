"""Workers of one process serve several databases, each with a directory of its own.

    databases_test.py EINDB
"""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest

from nodes import EINDB, SECRET_FILE, Worker, read_database


class Databases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.workers = [Worker(os.path.join(folder.name, f"w{n}")) for n in range(2)]
        for worker in self.workers:
            self.addCleanup(worker.close)

    def path(self, name):
        return name if name == ":memory:" else os.path.join(self.folder, name)

    def command(self, database, text, *words):
        addresses = ",".join(worker.address for worker in self.workers)
        return subprocess.run([EINDB, *words, self.path(database), "--workers", addresses, "--secret-file", SECRET_FILE,
                               *(["--mode", "list", "--noheader", "-c", text] if text else [])],
                              capture_output=True, text=True, timeout=240)  # fmt: skip

    def run_sql(self, database, text):
        ran = self.command(database, text)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout.split()

    def refused(self, database, text, *words):
        ran = self.command(database, text, *words)
        self.assertNotEqual(ran.returncode, 0, ran.stdout)
        return ran.stderr

    def make(self, database, factor):
        self.run_sql(database, "SET small_statements = 'workers'; CREATE TENSOR A PARTITION (4, 1) AS "
                               f"EINSUM A[i 64, j 8] = {factor} * (i + 1)")  # fmt: skip

    def sum_of(self, database):
        return float(self.run_sql(database, "EINSUM Z[] = SUM(A[i,j])")[-1])

    def directories(self, worker):
        """The number of tiles in each of the worker's directories, by the directory's kind."""
        found = {}
        for folder, _, files in os.walk(worker.folder):
            if "shard.db" in files:
                ((tiles,),) = read_database(f"{folder}/shard.db", "SELECT COUNT(*) FROM eindb_contents")
                found[os.path.relpath(folder, worker.folder)] = tiles
        return found

    def test_each_database_has_a_directory(self):
        for factor in (1, 2, 3):
            self.make(f"d{factor}.db", factor)
        for factor in (1, 2, 3):
            self.assertEqual(self.sum_of(f"d{factor}.db"), factor * 8 * 64 * 65 / 2)
        for worker in self.workers:
            self.assertEqual(sorted(self.directories(worker).values()), [2, 2, 2])
            self.assertEqual(self.directories(worker)["."], 2)
        # They are found again, whoever comes first.
        for worker in self.workers:
            worker.end(signal.SIGKILL)
            worker.start()
        for factor in (3, 1, 2):
            self.assertEqual(self.sum_of(f"d{factor}.db"), factor * 8 * 64 * 65 / 2)
        self.run_sql("d2.db", "DROP TENSOR A")
        self.assertEqual(self.sum_of("d3.db"), 3 * 8 * 64 * 65 / 2)
        for worker in self.workers:
            self.assertEqual(sorted(self.directories(worker).values()), [0, 2, 2])

    def test_a_database_in_memory_claims_nothing(self):
        text = "CREATE TENSOR A PARTITION (4, 1) AS EINSUM A[i 64, j 8] = i; EINSUM Z[] = SUM(A[i,j])"
        self.assertEqual(self.run_sql(":memory:", text), ["16128.0"])
        self.make("d.db", 1)
        for worker in self.workers:
            self.assertEqual(self.directories(worker)["."], 2)
            worker.end(signal.SIGKILL)
            worker.start()
            self.assertEqual(self.directories(worker), {".": 2})
        self.assertEqual(self.sum_of("d.db"), 8 * 64 * 65 / 2)

    def test_copies_and_backups_are_refused_as_before(self):
        self.make("first.db", 1)
        self.make("second.db", 2)
        shutil.copy(self.path("second.db"), self.path("copy.db"))
        self.assertIn("is a copy of the database", self.refused("copy.db", "SHOW TENSORS"))
        shutil.copy(self.path("second.db"), self.path("backup"))
        self.run_sql("second.db", "CREATE TENSOR B PARTITION (4) AS EINSUM B[i 64] = i")
        shutil.copyfile(self.path("backup"), self.path("second.db"))  # over the file
        self.assertIn("another state of the database", self.refused("second.db", "SHOW TENSORS"))
        self.assertEqual(self.sum_of("first.db"), 8 * 64 * 65 / 2)

    def test_a_file_whose_place_was_taken_gets_no_directory(self):
        self.make("first.db", 1)
        for name, place in (("first.db", "."), ("second.db", None)):
            if place is None:
                self.make(name, 1)
            shutil.copy(self.path(name), self.path("taking.db"))
            ran = self.command("taking.db", None, "take-over")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertEqual(self.sum_of("taking.db"), 8 * 64 * 65 / 2)
            before = self.directories(self.workers[0])
            self.assertIn("has taken", self.refused(name, "EINSUM Z[] = SUM(A[i,j])"))
            self.assertEqual(self.directories(self.workers[0]), before)
            os.remove(self.path("taking.db"))
            os.remove(self.path(name))

    def test_the_limit_of_the_disk_is_for_all(self):
        for worker in self.workers:
            worker.end()
            worker.options = ("--disk-limit", "100MiB")
            worker.start()
        sizes = []
        for n in range(6):
            ran = self.command(f"d{n}.db", "CREATE TENSOR A FLOAT64 PARTITION (16, 1) AS "
                                           "EINSUM A[i 2048, j 1024] = i + j")  # fmt: skip
            sizes.append(ran.returncode)
        self.assertEqual(sizes[0], 0)
        self.assertNotEqual(sizes[-1], 0, "six times 8 MiB, and six reserves of 16 MiB, do not fit in 100 MiB")


if __name__ == "__main__":
    unittest.main()
