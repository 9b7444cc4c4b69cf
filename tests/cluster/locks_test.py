"""The coordinator never loses its locks on the database. Acknowledged changes are there after kill -9, although other
programs open and close the same file meanwhile.

    locks_test.py EINDB

SQLite's locks belong to a process and a file: closing any descriptor of the file drops them. A program that then closes
the database considers itself the last one, and removes the log to which the coordinator still writes.
"""

import os
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from nodes import EINDB, HEARTBEAT_MS, Cluster, Worker, trusting
from waiting import HANG_SECONDS, wait_until

# A joining worker is settled about a heartbeat later, when the coordinator opens connections of its own to the file.
HEARTBEATS_TO_SETTLE = 4
INSERTS = 200


def locks_of(process, path):
    """The ranges of the file that the process has locked. The list may be incomplete while other locks change."""
    inode = str(os.stat(path).st_ino)
    with open("/proc/locks") as file:
        rows = [line.split() for line in file]
    return {tuple(row[3:4] + row[6:8]) for row in rows if row[4] == str(process.pid) and row[5].endswith(":" + inode)}


def of_worker(worker):
    """The options of a shell that uses the worker."""
    return ["--workers", worker.address, "--heartbeat", f"{HEARTBEAT_MS}ms", *trusting(())]


class Shell:
    """A shell that reads statements until it is killed."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([EINDB, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)  # fmt: skip
        self.answers = 0

    def run(self, statement):
        """Runs a statement, and returns the lines of the answer."""
        self.answers += 1
        answer = f"answered {self.answers}"
        self.process.stdin.write(f"{statement};\nSELECT '{answer}' AS reply;\n")
        self.process.stdin.flush()
        lines = []
        while (line := self.process.stdout.readline()) != answer + "\n":
            if not line:
                raise AssertionError(f"the shell has ended: {lines}")
            lines.append(line)
        if any("error" in line for line in lines):
            raise AssertionError(f"{statement}: {lines}")
        return lines

    def kill(self):
        self.process.kill()
        self.process.wait(HANG_SECONDS)
        self.process.stdin.close()
        self.process.stdout.close()


class Coordinator(unittest.TestCase):
    def open_beside(self, path, address, statement="SELECT 1"):
        """Opens and closes the database by another program. Returns its output."""
        command = [EINDB, path, "--workers", address, *trusting(()), "-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=HANG_SECONDS).stdout

    def test_a_shell_keeps_its_locks_when_a_worker_joins(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "my.db")
            worker = Worker(os.path.join(folder, "w"))
            shell = Shell(path, *of_worker(worker))
            try:
                shell.run("CREATE TABLE t (a INTEGER)")
                held = locks_of(shell.process, path)
                self.assertNotEqual(held, set())
                time.sleep(HEARTBEATS_TO_SETTLE * HEARTBEAT_MS / 1000)
                self.assertTrue(wait_until(lambda: locks_of(shell.process, path) == held), "locks were lost")
                self.open_beside(path, worker.address)
                self.assertTrue(os.path.exists(path + "-wal"), "the log of a database in use is gone")
                shell.run("INSERT INTO t VALUES (1)")
                self.assertIn("1", self.open_beside(path, worker.address, "SELECT COUNT(*) FROM t"))
                shell.kill()
                self.assertIn("1", self.open_beside(path, worker.address, "SELECT SUM(a) FROM t"))
            finally:
                shell.kill()
                worker.close()

    def test_a_server_loses_nothing_that_it_acknowledged(self):
        cluster = Cluster(2)
        try:
            path = os.path.join(cluster.folder, "s.db")
            address = ",".join(worker.address for worker in cluster.workers)
            connection = cluster.connect()
            cluster.wait_for_workers(connection)
            connection.execute("CREATE TABLE t (a INTEGER)")
            time.sleep(HEARTBEATS_TO_SETTLE * HEARTBEAT_MS / 1000)
            for n in range(INSERTS):
                connection.execute(f"INSERT INTO t VALUES ({n})")
                if n % 50 == 20:
                    self.open_beside(path, address)
                    with cluster.connect() as another:
                        self.assertEqual(another.execute("SELECT COUNT(*) FROM t").fetchone()[0], n + 1)
            connection.execute("CREATE TENSOR Sums AS EINSUM Sums[i 100, j 100] = i + j")
            cluster.end_server(signal.SIGKILL)
            connection.close()
            cluster.start_server()
            connection = cluster.connect()
            cluster.wait_for_workers(connection)
            self.assertEqual(connection.execute("SELECT COUNT(*), SUM(a) FROM t").fetchone(),
                             (INSERTS, INSERTS * (INSERTS - 1) // 2))  # fmt: skip
            self.assertEqual(connection.execute("EINSUM Z[] = SUM(Sums[i,j])").fetchone()[-1], 100 * 100 * 99)
            self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            connection.close()
        finally:
            cluster.close()

    def test_two_programs_that_write_leave_a_sound_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "my.db")
            worker = Worker(os.path.join(folder, "w"))
            shells = []
            try:
                shells += [Shell(path, *of_worker(worker)) for _ in range(2)]
                shells[0].run("CREATE TABLE t (a INTEGER, b BLOB)")
                time.sleep(HEARTBEATS_TO_SETTLE * HEARTBEAT_MS / 1000)
                for n in range(30):
                    shells[n % 2].run(f"INSERT INTO t VALUES ({n}, randomblob(100000))")
                    if n % 10 == 5:
                        self.open_beside(path, worker.address)
                self.assertIn("30", self.open_beside(path, worker.address, "SELECT COUNT(*) FROM t"))
                self.assertIn("ok", self.open_beside(path, worker.address, "PRAGMA integrity_check"))
            finally:
                for shell in shells:
                    shell.kill()
                worker.close()

    def test_a_worker_that_comes_back_disturbs_no_transaction(self):
        cluster = Cluster(2)
        try:
            connection, other = cluster.connect(), cluster.connect()
            cluster.wait_for_workers(connection)
            connection.execute("CREATE TABLE t (a INTEGER)")
            connection.execute("CREATE TENSOR Sums REPLICAS 2 AS EINSUM Sums[i 100, j 100] = i + j")
            self.assertEqual(cluster.wait_until_settled(), {})
            watcher = sqlite3.connect(os.path.join(cluster.folder, "s.db"))
            version = watcher.execute("PRAGMA data_version").fetchone()
            connection.execute("BEGIN")
            connection.execute("SELECT COUNT(*) FROM t").fetchone()
            for worker in cluster.workers:
                worker.harm("kill")
                self.assertTrue(wait_until(lambda: cluster.states(other)[worker.address] != "up"))
                worker.heal("kill")
                cluster.wait_for_workers(other)
                time.sleep(HEARTBEATS_TO_SETTLE * HEARTBEAT_MS / 1000)
            self.assertEqual(watcher.execute("PRAGMA data_version").fetchone(), version, "something was written")
            connection.execute("INSERT INTO t VALUES (1)")
            connection.execute("COMMIT")
            watcher.close()
            connection.close()
            other.close()
        finally:
            cluster.close()


if __name__ == "__main__":
    unittest.main()
