"""A worker keeps a copy of the coordinator's file: whatever was answered as committed is there when the coordinator is
killed and the copy is promoted; a standby that was away is behind, says so, and catches up.

    standby_test.py EINDB

EINDB_STANDBYS sets the number of moments at which the coordinator is killed (default 6). Moments are random with a fixed
seed.
"""

import glob
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import unittest
import urllib.request

import psycopg

from nodes import EINDB, HANG_SECONDS, Cluster, wait_until

KILLS = int(os.environ.get("EINDB_STANDBYS", "6"))


class Standby(unittest.TestCase):
    def start(self, workers=2, *options):
        self.cluster = Cluster(workers)
        self.addCleanup(self.cluster.close)
        self.standby = self.cluster.workers[0]
        self.cluster.end_server()
        self.cluster.options = ("--http", "127.0.0.1:0", "--standby", self.standby.address, *options)
        self.restart()

    def restart(self):
        self.cluster.start_server()
        self.http = int(re.search(r"http on port (\d+)", self.cluster.server.stdout.readline())[1])
        self.connection = self.cluster.connect()
        self.addCleanup(self.connection.close)
        self.cluster.wait_for_workers(self.connection)
        self.wait_until_current()

    def state(self):
        return self.cluster.statuses(self.connection)[self.standby.address]["standby"]

    def wait_until_current(self):
        self.assertTrue(wait_until(lambda: self.state() == "current"),
                        (self.cluster.statuses(self.connection), self.cluster.log()))  # fmt: skip

    def execute(self, statement):
        return self.connection.execute(statement)

    def value(self, statement):
        return self.execute(statement).fetchone()[-1]

    def behind(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics", timeout=HANG_SECONDS) as page:
            return int(re.search(r"^eindb_standbys_behind (\d+)$", page.read().decode(), re.MULTILINE).group(1))

    def promote(self, path):
        command = [EINDB, "promote", self.standby.folder, path, *self.cluster.shell_options]
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)

    def lose_file(self):
        """The coordinator's machine is gone, with the file."""
        self.connection.close()
        if self.cluster.server:
            self.cluster.end_server(signal.SIGKILL)
        for path in glob.glob(self.cluster.database + "*"):
            os.remove(path)

    def go_on_with_copy(self):
        path = os.path.join(self.cluster.folder, f"promoted{random.getrandbits(40)}.db")
        outcome = self.promote(path)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.cluster.database = path
        self.restart()

    def test_what_was_answered_is_in_the_copy(self):
        self.start()
        moments = random.Random(4)
        self.execute("CREATE TABLE answered (n INTEGER)")
        self.execute("CREATE TENSOR A PARTITION (4, 1) AS EINSUM A[i 64, j 8] = i + j")
        number = 0
        for _ in range(KILLS):
            ends = time.monotonic() + moments.uniform(0.05, 1.5)
            killer = threading.Timer(ends - time.monotonic(), self.cluster.server.kill)
            killer.start()
            answered, tensors = [], set()
            try:
                while True:
                    number += 1
                    self.execute(f"INSERT INTO answered VALUES ({number})")
                    answered.append(number)
                    if number % 3 == 0:
                        tensors.add(number)
                        self.execute(f"CREATE TENSOR t{number} PARTITION (4, 1) AS EINSUM t{number}[i,j] = {number} * A[i,j]")
                    if number % 5 == 0:
                        self.execute("INSERT INTO TENSOR A VALUES (0, 0, 0)")
                    if number % 7 == 0 and tensors:
                        gone = min(tensors)
                        self.execute(f"DROP TENSOR t{gone}")
                        tensors.remove(gone)
            except psycopg.Error:
                killer.join()
            unclear = {number, min(tensors, default=0)}
            self.lose_file()
            self.go_on_with_copy()
            kept = {n for (n,) in self.execute("SELECT n FROM answered").fetchall()}
            self.assertLessEqual(set(answered), kept)
            self.assertLessEqual(kept, set(range(number + 1)))
            whole = self.value("EINSUM s = SUM(A[i,j])")
            listed = {row[0] for row in self.execute("SHOW TENSORS").fetchall()}
            for tensor in tensors - unclear:
                self.assertIn(f"t{tensor}", listed)
                self.assertEqual(self.value(f"EINSUM s = SUM(t{tensor}[i,j])"), tensor * whole)
            for tensor in listed - {"A"}:
                self.execute(f"DROP TENSOR {tensor}")
        self.assertFalse(self.cluster.wait_until_settled())

    def test_the_lost_file_is_refused_when_it_comes_back(self):
        self.start()
        self.execute("CREATE TENSOR A PARTITION (4, 1) AS EINSUM A[i 8, j 8] = 1")
        self.connection.close()
        self.cluster.end_server(signal.SIGKILL)
        former = self.cluster.database
        self.go_on_with_copy()
        command = [EINDB, former, *self.cluster.shell_options, "-c", "EINSUM s = SUM(A[i,j])"]
        outcome = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)
        self.assertNotEqual(outcome.returncode, 0)
        self.assertIn("another file has taken this database's place", outcome.stderr)
        self.assertEqual(self.value("EINSUM s = SUM(A[i,j])"), 64)

    def test_a_standby_that_was_away_catches_up(self):
        self.start()
        self.execute("CREATE TABLE t (n INTEGER)")
        self.assertEqual(self.behind(), 0)
        self.standby.harm("kill")
        self.execute("INSERT INTO t VALUES (1)")
        self.assertTrue(wait_until(lambda: self.state() == "behind"))
        self.assertEqual(self.behind(), 1)
        reason = self.cluster.statuses(self.connection)[self.standby.address]["reason"]
        self.assertIn("its copy of the coordinator's file is behind", reason)
        self.execute("INSERT INTO t VALUES (2)")
        self.standby.heal("kill")
        self.wait_until_current()
        self.assertEqual(self.behind(), 0)
        self.execute("INSERT INTO t VALUES (3)")
        self.lose_file()
        self.go_on_with_copy()
        self.assertEqual(self.value("SELECT COUNT(*) FROM t"), 3)

    def test_a_copy_that_lacks_tiles_is_not_promoted(self):
        self.start()
        self.execute("CREATE TENSOR A PARTITION (4, 1) AS EINSUM A[i 8, j 8] = 1")
        kept = os.path.join(self.cluster.folder, "kept")
        shutil.copytree(os.path.join(self.standby.folder, "standby"), kept)
        self.execute("CREATE TENSOR B PARTITION (4, 1) AS EINSUM B[i 8, j 8] = 2")
        self.lose_file()
        copy = os.path.join(self.standby.folder, "standby")
        shutil.move(copy, copy + ".later")
        shutil.move(kept, copy)
        path = os.path.join(self.cluster.folder, "older.db")
        outcome = self.promote(path)
        self.assertEqual(outcome.returncode, 1)
        self.assertRegex(outcome.stderr, "is older than what the workers have[^]*eindb take-over".replace("[^]", r"[\s\S]"))
        self.assertEqual(glob.glob(path + "*"), [])
        shutil.rmtree(copy)
        shutil.move(copy + ".later", copy)
        self.go_on_with_copy()
        self.assertEqual(self.value("EINSUM s = SUM(B[i,j])"), 128)

    def test_the_log_begins_anew(self):
        self.start()
        self.execute("CREATE TABLE t (n INTEGER, text TEXT)")
        rows = 0
        for _ in range(12):  # 200 MB, three times as much as a log has
            self.execute("WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 256) "
                         "INSERT INTO t SELECT n, hex(zeroblob(30000)) FROM s")
            rows += 256
        self.assertEqual(self.state(), "current")
        self.execute("INSERT INTO t VALUES (0, '')")
        self.assertNotIn("standby behind", self.cluster.log())
        self.lose_file()
        self.go_on_with_copy()
        self.assertEqual(self.value("SELECT COUNT(*) FROM t"), rows + 1)

    def test_what_other_processes_commit_is_followed(self):
        self.start()
        self.execute("CREATE TABLE t (n INTEGER)")
        command = [EINDB, self.cluster.database, "-c", "INSERT INTO t VALUES (17)"]
        subprocess.run(command, check=True, timeout=HANG_SECONDS)
        log = os.path.join(self.standby.folder, "standby", "copy", "database.db-wal")
        size = os.path.getsize(log)
        self.execute("INSERT INTO t VALUES (18)")
        self.assertGreaterEqual(os.path.getsize(log), size)
        self.lose_file()
        self.go_on_with_copy()
        self.assertEqual(self.value("SELECT SUM(n) FROM t"), 35)

    def test_it_is_one_of_the_workers_and_of_a_file(self):
        cluster = Cluster(1)
        self.addCleanup(cluster.close)
        for path, standby, words in [("x.db", "127.0.0.1:1", "is none of the workers"),
                                     (":memory:", cluster.workers[0].address, "no file that a standby could keep")]:  # fmt: skip
            command = [EINDB, path, *cluster.shell_options, "--standby", standby, "-c", "SELECT 1"]
            outcome = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS, cwd=cluster.folder)
            self.assertEqual(outcome.returncode, 1)
            self.assertIn(words, outcome.stderr)
        missing = subprocess.run([EINDB, "promote", cluster.workers[0].folder, "y.db", *cluster.shell_options],
                                 capture_output=True, text=True, timeout=HANG_SECONDS, cwd=cluster.folder)  # fmt: skip
        self.assertIn("there is no copy of a coordinator's file", missing.stderr)
        self.assertIn("--standby", missing.stderr)


if __name__ == "__main__":
    unittest.main()
