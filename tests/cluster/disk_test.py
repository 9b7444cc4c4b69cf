"""The disk of one worker hangs, while the worker itself continues. Statements can be cancelled and end by their
time-outs, other clients are not delayed, the worker is reported as unwell and left out, and its unfinished work is
settled when the disk answers again.

    disk_test.py EINDB LIBRARY

The library makes a disk hang (tests/cluster/hung_disk). It needs no privileges.
"""

import os
import sys
import threading
import time
import unittest

import psycopg

LIBRARY = sys.argv.pop(2)

from nodes import Cluster, wait_until  # noqa: E402: takes the program from the arguments

WORKERS = 4
HUNG = 1
N = 64
TOTAL = N * N * (N - 1)
TIMEOUT_SECONDS = 2


class HungDisk:
    """The disk of one worker hangs until the end of the block."""

    def __init__(self, cluster):
        self._switch = cluster.hung_while

    def __enter__(self):
        open(self._switch, "w").close()
        return self

    def __exit__(self, *_):
        os.remove(self._switch)


class DiskCluster(Cluster):
    def __init__(self, disk_timeout):
        super().__init__(WORKERS)
        worker = self.workers[HUNG]
        self.hung_while = f"{worker.folder}.hung"
        for each in self.workers:
            each.end()
            each.options = ["--disk-timeout", disk_timeout]
        worker.environment = {"LD_PRELOAD": LIBRARY, "EINDB_HUNG_FOLDER": worker.folder,
                              "EINDB_HUNG_WHILE": self.hung_while}  # fmt: skip
        for each in self.workers:
            each.start()

    @property
    def hung_address(self):
        return self.workers[HUNG].address


class DiskTest(unittest.TestCase):
    DISK_TIMEOUT = ""

    def setUp(self):
        self.cluster = DiskCluster(self.DISK_TIMEOUT)
        self.addCleanup(self.cluster.close)
        self.connection = self.cluster.connect()
        self.addCleanup(self.connection.close)
        self.cluster.wait_for_workers(self.connection)
        self.connection.execute("SET tile_bytes = 2048")
        self.connection.execute("CREATE TABLE t (a INTEGER)")
        self.connection.execute(f"CREATE TENSOR Kept REPLICAS 2 AS EINSUM Kept[i {N}, j {N}] = i + j")
        self.connection.execute(f"CREATE TENSOR Single AS EINSUM Single[i {N}, j {N}] = i + j")

    def total(self, tensor):
        return self.connection.execute(f"EINSUM Z[] = SUM({tensor}[i,j])").fetchone()[-1]

    def error_of(self, statement):
        """The error of a statement, and the seconds that it took. The statement must end while the disk still hangs."""
        began = time.monotonic()
        with self.assertRaises(psycopg.Error) as caught:
            self.connection.execute(statement)
        return caught.exception, time.monotonic() - began

    def write_beside(self):
        """Another client inserts a row."""
        with self.cluster.connect() as other:
            other.execute("INSERT INTO t VALUES (1)")

    def wait_for_earlier_requests(self):
        """Waits until the worker has served all earlier requests. Workers serve requests in order: a hung write is
        executed late, and a request behind it removes the result. Before these begin, everything looks settled."""
        self.connection.execute(f"CREATE TENSOR Later REPLICAS {WORKERS} AS EINSUM Later[i {N}, j {N}] = i")
        self.connection.execute("DROP TENSOR Later")

    def check_all_is_well(self):
        self.cluster.wait_for_workers(self.connection)
        self.wait_for_earlier_requests()
        self.assertEqual(self.cluster.wait_until_settled(), {})
        for tensor in ("Kept", "Single"):
            self.assertEqual(self.total(tensor), TOTAL)


class Cancelled(DiskTest):
    """The worker does not report its hung disk, since the time-out of the disk is an hour."""

    DISK_TIMEOUT = "1h"
    CREATE = f"CREATE TENSOR Made REPLICAS 2 AS EINSUM Made[i {N}, j {N}] = i - j"

    def test_statements_end_in_their_time(self):
        self.connection.execute(f"SET statement_timeout = '{TIMEOUT_SECONDS}s'")
        statements = [self.CREATE,
                      "CREATE TENSOR Made AS EINSUM Made[i,j] = Kept[i,j] * 2",
                      "UPDATE TENSOR Single[i,j] = Single[i,j] * 2"]  # fmt: skip
        with HungDisk(self.cluster):
            for statement in statements:
                with self.subTest(statement):
                    error, seconds = self.error_of(statement)
                    self.assertEqual(error.sqlstate, "57014", error)
                    self.assertGreater(seconds, TIMEOUT_SECONDS - 0.1)
                    self.write_beside()
            self.assertEqual(set(self.cluster.states(self.connection).values()), {"up"}, "its heartbeats go on")
        self.connection.execute("SET statement_timeout = 0")
        self.check_all_is_well()
        self.connection.execute(self.CREATE)

    def test_a_request_to_cancel_is_seen(self):
        with HungDisk(self.cluster), self.cluster.connect() as other:
            def cancel():
                is_active = "SELECT COUNT(*) FROM pg_stat_activity WHERE pid = %s AND state = 'active'"
                session = self.connection.info.backend_pid
                while other.execute(is_active, (session,)).fetchone() == (1,):
                    self.connection.cancel()
                    time.sleep(0.1)

            timer = threading.Timer(0.5, cancel)
            timer.start()
            error, _ = self.error_of(self.CREATE)
            timer.join()
            self.assertEqual(error.sqlstate, "57014", error)
            self.write_beside()
        self.check_all_is_well()

    def test_a_drop_is_done_and_the_worker_told_later(self):
        self.connection.execute(f"SET statement_timeout = '{TIMEOUT_SECONDS}s'")
        with HungDisk(self.cluster):
            self.connection.execute("DROP TENSOR Kept")
        self.assertEqual(self.cluster.wait_until_settled(), {})


class Unwell(DiskTest):
    """The worker reports its hung disk, and is left out. Only the disk has a time-out."""

    DISK_TIMEOUT = "1s"

    def test_it_is_left_out_until_its_disk_answers(self):
        with HungDisk(self.cluster):
            # The statement that detects the fault is planned again without the worker.
            self.connection.execute("CREATE TENSOR Made REPLICAS 2 AS EINSUM Made[i,j] = Kept[i,j]")
            status = self.cluster.statuses(self.connection)[self.cluster.hung_address]
            self.assertEqual(status["state"], "unwell")
            self.assertIn("its disk has not answered for", status["reason"])
            self.assertIn("worker unwell", self.cluster.log())
            self.assertEqual(self.total("Made"), TOTAL)
            self.assertEqual(self.total("Kept"), TOTAL, "there are other copies")
            ((count,),) = self.connection.execute("SELECT COUNT(*) FROM Kept").fetchall()
            self.assertEqual(count, N * N)
            error, _ = self.error_of("EINSUM Z[] = SUM(Single[i,j])")
            self.assertEqual(error.sqlstate, "58000", error)
            self.assertIn(self.cluster.hung_address, str(error))
            self.write_beside()
        self.assertTrue(wait_until(lambda: set(self.cluster.states(self.connection).values()) == {"up"}))
        self.assertIn("worker well again", self.cluster.log())
        self.check_all_is_well()
        self.assertNotIn("Made", self.cluster.workers[HUNG].contents())


if __name__ == "__main__":
    unittest.main()
