"""The coordinator is killed while it writes a sharded tensor, so workers miss the end of transactions. Tensors exist
completely or not at all, and workers finally remove all tiles that nothing refers to.

    crash_test.py EINDB

EINDB_CRASHES sets how often the server is killed at a random moment (default 9, with a fixed seed).
"""

import os
import random
import signal
import sys
import threading
import time
import unittest

import psycopg

from nodes import Cluster, wait_until
from waiting import HANG_SECONDS

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from trials import Trials  # noqa: E402

CRASHES = int(os.environ.get("EINDB_CRASHES", "9"))
N = 600
CELLS = 300

OLD = f"CREATE TENSOR Old FLOAT64 AS EINSUM Old[i {N}, j {N}] = (i * 7 + j * 3) % 5"
CREATE = "CREATE TENSOR New REPLICAS 2 AS EINSUM New[i,k] = SUM(Old[i,j] * Old[j,k])"
# Each row is a tile.
EMPTY_CELLS = f"CREATE TENSOR Cells (i {CELLS}, j 2) PARTITION ({CELLS}, 1) REPLICAS 2"
INSERT = "INSERT INTO TENSOR Cells VALUES " + ", ".join(f"({i}, 1, {i})" for i in range(CELLS))


class Database:
    """A database of a cluster whose server is killed and started again."""

    def __init__(self, workers):
        self.cluster = Cluster(workers)
        self.workers = self.cluster.workers
        self.connection = self.cluster.connect()
        self.cluster.wait_for_workers(self.connection)
        # With this size each worker has some tiles of the product.
        self.run("SET tile_bytes = 65536")

    def run(self, statement):
        return self.connection.execute(statement)

    def value(self, query):
        return self.run(query).fetchone()[-1]

    def names(self):
        return {row[0] for row in self.run("SHOW TENSORS").fetchall()}

    def kill_server(self):
        self.cluster.end_server(signal.SIGKILL)
        self.connection.close()

    def start_again(self):
        self.cluster.start_server()
        self.connection = self.cluster.connect()
        self.cluster.wait_for_workers(self.connection)
        self.run("SET tile_bytes = 65536")

    def close(self):
        self.connection.close()
        self.cluster.close()


class WithDatabase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.database = Database(3)
        cls.addClassCleanup(cls.database.close)
        cls.database.run(OLD)
        cls.old = cls.database.value("EINSUM Z[] = SUM(Old[i,j])")

    def setUp(self):
        self.workers = self.database.workers
        self.addCleanup(self.clear)

    def clear(self):
        self.database.run("DROP TENSOR IF EXISTS New")
        self.database.run("DROP TENSOR IF EXISTS Cells")
        self.assert_settled()

    def assert_settled(self):
        self.assertEqual(self.database.cluster.wait_until_settled(), {})
        self.assertEqual(self.database.value("EINSUM Z[] = SUM(Old[i,j])"), self.old)

    def in_thread(self, statement):
        """Runs a statement in a thread until it ends or the server does."""

        def run():
            try:
                self.database.run(statement)
            except psycopg.Error:
                pass

        thread = threading.Thread(target=run)
        thread.start()
        return thread


class Killed(WithDatabase):
    """The coordinator is killed at random moments."""

    def setUp(self):
        super().setUp()
        self.kills = Trials("coordinator_kills")
        self.addCleanup(self.kills.print)

    def crash_in(self, statement, delay):
        thread = self.in_thread(statement)
        time.sleep(delay)
        self.database.kill_server()
        thread.join()
        self.database.start_again()

    def seconds_of(self, statement):
        start = time.monotonic()
        self.database.run(statement)
        return time.monotonic() - start

    def test_create(self):
        seconds = self.seconds_of(CREATE)
        whole = self.database.value("EINSUM Z[] = SUM(New[i,j])")
        self.database.run("DROP TENSOR New")
        moments = random.Random(1)
        for _ in range((CRASHES + 2) // 3):
            delay = moments.uniform(0, 1.2 * seconds)
            with self.subTest(delay=delay), self.kills.trial():
                self.crash_in(CREATE, delay)
                self.assert_settled()
                if "New" in self.database.names():
                    self.assertEqual(self.database.value("EINSUM Z[] = SUM(New[i,j])"), whole)
                    self.database.run("DROP TENSOR New")

    def test_drop(self):
        self.database.run(CREATE)
        whole = self.database.value("EINSUM Z[] = SUM(New[i,j])")
        seconds = self.seconds_of("DROP TENSOR New")
        moments = random.Random(2)
        for _ in range((CRASHES + 1) // 3):
            delay = moments.uniform(0, 1.2 * seconds)
            with self.subTest(delay=delay), self.kills.trial():
                self.database.run("CREATE TENSOR IF NOT EXISTS" + CREATE.removeprefix("CREATE TENSOR"))
                self.crash_in("DROP TENSOR New", delay)
                self.assert_settled()
                if "New" in self.database.names():
                    self.assertEqual(self.database.value("EINSUM Z[] = SUM(New[i,j])"), whole)

    def test_insert(self):
        self.database.run(EMPTY_CELLS)
        seconds = self.seconds_of(INSERT)
        moments = random.Random(3)
        for _ in range(CRASHES // 3):
            delay = moments.uniform(0, 1.2 * seconds)
            with self.subTest(delay=delay), self.kills.trial():
                self.database.run("DROP TENSOR Cells")
                self.database.run(EMPTY_CELLS)
                self.crash_in(INSERT, delay)
                self.assert_settled()
                count = self.database.value("SELECT COUNT(*) FROM Cells WHERE val <> 0")
                self.assertIn(count, (0, CELLS - 1), "all or nothing")


class Undecided(WithDatabase):
    """The coordinator is killed in a certain phase of a commit. A stopped worker keeps it in that phase."""

    def prepared(self):
        return [worker for worker in self.workers if any(prepared for _, prepared in worker.open_transactions())]

    def test_prepared_and_not_committed_is_aborted(self):
        self.database.run(EMPTY_CELLS)
        self.database.run("BEGIN")
        self.database.run(INSERT)
        self.workers[0].send_signal(signal.SIGSTOP)
        self.addCleanup(self.workers[0].send_signal, signal.SIGCONT)
        thread = self.in_thread("COMMIT")
        self.assertTrue(wait_until(lambda: len(self.prepared()) == 2), "the others prepare")
        self.database.kill_server()
        thread.join()
        self.workers[0].send_signal(signal.SIGCONT)
        self.database.start_again()
        self.assert_settled()
        self.assertEqual(self.database.value("SELECT COUNT(*) FROM Cells WHERE val <> 0"), 0)

    def test_committed_and_not_told_is_committed(self):
        self.database.run("BEGIN")
        self.database.run(CREATE)  # workers have made the tensor durable when it ends
        sum_before = self.database.value("EINSUM Z[] = SUM(New[i,j])")
        for worker in self.workers:
            worker.send_signal(signal.SIGSTOP)
            self.addCleanup(worker.send_signal, signal.SIGCONT)
        thread = self.in_thread("COMMIT")
        committed = "SELECT COUNT(*) FROM eindb_shard_participants"
        self.assertTrue(wait_until(lambda: self.database.cluster.query_file(committed) != [(0,)]), "the decision")
        self.database.kill_server()
        thread.join()
        for worker in self.workers:
            worker.send_signal(signal.SIGCONT)
        self.database.start_again()
        self.assert_settled()
        self.assertEqual(self.database.value("EINSUM Z[] = SUM(New[i,j])"), sum_before)

    def test_a_worker_that_is_killed_after_it_has_prepared(self):
        for ending, names in (("COMMIT", {"Old", "New"}), ("ROLLBACK", {"Old"})):
            with self.subTest(ending=ending):
                self.database.run("BEGIN")
                self.database.run(CREATE)
                self.workers[0].send_signal(signal.SIGKILL)
                self.workers[0].process.wait(HANG_SECONDS)
                self.database.run(ending)
                self.workers[0].restart()
                self.database.cluster.wait_for_workers(self.database.connection)
                self.assertEqual(self.database.names(), names)
                self.assert_settled()
                self.database.run("DROP TENSOR IF EXISTS New")

    def test_a_worker_that_is_away_at_a_drop(self):
        self.database.run(CREATE)
        self.workers[0].send_signal(signal.SIGKILL)
        self.workers[0].process.wait(HANG_SECONDS)
        self.database.run("DROP TENSOR New")
        self.assertIn("New", self.workers[0].contents())
        self.workers[0].restart()
        self.assert_settled_without_statements()

    def test_a_worker_that_is_away_at_a_drop_and_the_coordinator_ends(self):
        self.database.run(CREATE)
        self.workers[0].send_signal(signal.SIGKILL)
        self.workers[0].process.wait(HANG_SECONDS)
        self.database.run("DROP TENSOR New")
        self.database.kill_server()
        self.workers[0].restart()
        self.database.start_again()
        self.assert_settled_without_statements()

    def test_a_reader_that_holds_back_a_drop(self):
        self.database.run(CREATE)
        with self.database.cluster.reading_a_state():
            self.database.run("DROP TENSOR New")
            self.assertTrue(any("New" in worker.contents() for worker in self.workers))
        self.assert_settled_without_statements()

    def assert_settled_without_statements(self):
        """The transactions are settled without statements of any client."""
        self.assertEqual(self.database.cluster.wait_until_settled(), {})
        wait_until(lambda: self.told_tiles() == self.stored_tiles())
        self.assertEqual(self.told_tiles(), self.stored_tiles())

    def told_tiles(self):
        return [status["tiles"] for status in self.database.cluster.statuses(self.database.connection).values()]

    def stored_tiles(self):
        return [len(worker.contents()) for worker in self.workers]


if __name__ == "__main__":
    unittest.main()
