#!/usr/bin/python3
"""mpi_program_test.py MPIEXEC EINDB: tests `mpirun -n N eindb --mpi` as a program: its statements, files, and end."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 2 else None
MPIEXEC = sys.argv.pop() if len(sys.argv) > 1 else None

PRODUCT = """
CREATE TENSOR A AS EINSUM A[i 64, j 48] = 1.0 * i + 2.0 * j;
CREATE TENSOR B AS EINSUM B[j 48, k 32] = 1.0 * j - 1.0 * k;
"""
SUM = "EINSUM Z[] = SUM(A[i,j] * B[j,k]);"
# So small a statement would run at the coordinator.
AT_WORKERS = "SET small_statements = 'workers'; EXPLAIN ({}) EINSUM Y[i,k] = SUM(A[i,j] * B[j,k]);"


def sum_of_product():
    return sum((i + 2 * j) * (j - k) for i in range(64) for j in range(48) for k in range(32))


class MpiProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "tmp").mkdir()

    def run_ranks(self, ranks, *arguments, text=""):
        command = [EINDB, "--mpi", *arguments]
        if ranks:
            command = [MPIEXEC, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)] + command
        run = subprocess.run(command, input=text, capture_output=True, text=True, cwd=self.folder, timeout=240,
                             env=dict(os.environ, TMPDIR=str(self.folder / "tmp")))
        return run.returncode, run.stdout, run.stderr

    def assert_ok(self, ranks, *arguments, text=""):
        status, out, err = self.run_ranks(ranks, *arguments, text=text)
        self.assertEqual(status, 0, out + err)
        return out

    def assert_sum(self, out):
        self.assertEqual(float(out.split()[-1]), sum_of_product(), out)

    def test_statements_come_from_arguments_files_and_the_standard_input(self):
        (self.folder / "job.sql").write_text(PRODUCT + SUM)
        self.assert_sum(self.assert_ok(4, "--list", "--noheader", "-f", "job.sql"))
        self.assert_sum(self.assert_ok(3, "--list", "--noheader", "-c", PRODUCT + SUM))
        self.assert_sum(self.assert_ok(2, "--list", "--noheader", text=PRODUCT + SUM))

    def test_all_ranks_compute_and_workers_keep_the_tiles(self):
        self.assert_ok(4, "my.db", "-c", PRODUCT)
        self.assertEqual(sorted(path.name for path in (self.folder / "my.db.workers").iterdir()),
                         ["rank-1", "rank-2", "rank-3"])
        self.assert_sum(self.assert_ok(4, "my.db", "--list", "--noheader", "-c", SUM))
        plan = self.assert_ok(4, "my.db", "--list", "-c", AT_WORKERS.format("ANALYZE"))
        self.assertIn("rank 3", plan)
        self.assertIn("coordinator", plan)
        workers = self.assert_ok(4, "my.db", "--csv", "-c", "SHOW WORKERS")
        self.assertEqual(re.findall(r"rank \d,(\w+)", workers), ["up"] * 3)
        plan = self.assert_ok(4, "my.db", "--list", "-c", AT_WORKERS.format("FORMAT json"))
        self.assertRegex(plan, r'"workers": 4\b')

    def test_data_directories_are_where_they_shall_be(self):
        self.assert_ok(2, "my.db", "--data", "tiles", "-c", PRODUCT)
        self.assertTrue((self.folder / "tiles" / "rank-1").is_dir())
        self.assertFalse((self.folder / "my.db.workers").exists())

    def test_a_database_in_memory_leaves_nothing(self):
        self.assert_ok(3, "-c", PRODUCT + SUM)
        self.assertEqual([path for path in (self.folder / "tmp").iterdir() if path.name.startswith("eindb")], [])

    def test_one_process_works_alone_also_without_mpirun(self):
        self.assert_sum(self.assert_ok(0, "--list", "--noheader", "-c", PRODUCT + SUM))
        self.assert_sum(self.assert_ok(1, "--list", "--noheader", "-c", PRODUCT + SUM))

    def test_the_status_is_that_of_rank_0(self):
        status, _, err = self.run_ranks(3, "-c", "EINSUM Z[i] = nothing[i]")
        self.assertEqual(status, 1)
        self.assertIn("nothing", err)
        status, _, _ = self.run_ranks(2, text=".exit 7\n")
        self.assertEqual(status, 7)

    def test_a_rank_that_dies_ends_the_job(self):
        """The job ends also if a rank dies during a statement. No other rank waits for it."""
        for rank in (0, 2):
            with self.subTest(rank=rank):
                with self.start_ranks(3) as job:
                    self.feed(job, "CREATE TENSOR A AS EINSUM A[i 512, j 512] = 1.0 * i + 2.0 * j;\n.print made\n")
                    self.assertEqual(job.stdout.readline(), "made\n")
                    self.feed(job, "EINSUM Z[] = SUM(A[i,j] * A[j,k] * A[k,i]);\n" * 1000)
                    os.kill(self.process_of(job, rank), signal.SIGKILL)
                    self.assertNotEqual(job.wait(timeout=240), 0)

    def start_ranks(self, ranks):
        job = subprocess.Popen([MPIEXEC, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), EINDB, "--mpi"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               cwd=self.folder, env=dict(os.environ, TMPDIR=str(self.folder / "tmp")))
        self.addCleanup(job.kill)
        return job

    @staticmethod
    def feed(job, text):
        job.stdin.write(text)
        job.stdin.flush()

    @staticmethod
    def process_of(job, rank):
        """The process of a rank, among those that mpirun has started."""
        wanted = b"OMPI_COMM_WORLD_RANK=%d" % rank
        for process in Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split():
            if wanted in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
                return int(process)
        raise AssertionError(f"there is no rank {rank}")

    def test_what_keeps_it_from_starting_is_said(self):
        status, _, err = self.run_ranks(2, "no/such/folder/my.db", "-c", SUM)
        self.assertEqual(status, 1)
        self.assertIn("no/such/folder", err)
        (self.folder / "file").write_text("")
        status, _, err = self.run_ranks(2, "my.db", "--data", "file", "-c", PRODUCT + SUM)
        self.assertEqual(status, 1)
        self.assertIn("file/rank-1", err)

    def test_what_does_not_go_together_is_refused(self):
        for arguments in (["--workers", "127.0.0.1:1"], ["serve", "my.db"], ["worker", "--data", "data"]):
            status, _, err = self.run_ranks(0, *arguments)
            self.assertEqual(status, 1, arguments)
            self.assertIn("--mpi", err)


if __name__ == "__main__":
    unittest.main()
