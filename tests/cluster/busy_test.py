"""A cluster that is not at its best, without anything being wrong: workers that come late, that compute with all they
have, and that are drained while a statement runs.

    busy_test.py EINDB
"""

import concurrent.futures
import contextlib
import os
import threading
import time
import unittest

import psycopg

from nodes import HEARTBEAT_MS, Cluster, wait_until

# Longer than a worker may be silent.
LONG_SECONDS = 2 * 3 * HEARTBEAT_MS / 1000
N = 1024


class Late(unittest.TestCase):
    def test_workers_that_come_later(self):
        cluster = Cluster(4)
        self.addCleanup(cluster.close)
        cluster.end_server()
        for worker in cluster.workers[1:]:
            worker.end()
        cluster.start_server()
        with cluster.connect() as connection:
            connection.execute("SET tile_bytes = 2048")
            # The first statement after the start that needs workers.
            connection.execute("CREATE TENSOR A AS EINSUM A[i 64, j 64] = i + j")
            total = connection.execute("EINSUM Z[] = SUM(A[i,j])").fetchone()[-1]
            self.assertEqual(total, 64 * 64 * 63)
            for count, worker in enumerate(cluster.workers[1:], start=2):
                worker.start()
                self.assertTrue(wait_until(lambda: list(cluster.states(connection).values()).count("up") == count))
                self.assertEqual(connection.execute("EINSUM Z[] = SUM(A[i,j])").fetchone()[-1], total)
            cluster.wait_for_workers(connection)
            connection.execute("CREATE TENSOR B AS EINSUM B[i,j] = A[i,j] * 2")
            self.assertEqual(connection.execute("EINSUM Z[] = SUM(B[i,j])").fetchone()[-1], 2 * total)
        tensors = [set(worker.contents()) for worker in cluster.workers]
        self.assertEqual(tensors, [{"A", "B"}, {"B"}, {"B"}, {"B"}], "each takes part from when it is there")


class LongestWait:
    """How long a thread that wants to run every few milliseconds did not, while it is open. Where that is as long as a
    heartbeat, it is the machine that keeps workers from giving theirs."""

    def __enter__(self):
        self.seconds = 0.0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        last = time.monotonic()
        while not self._ends.wait(0.005):
            now = time.monotonic()
            self.seconds = max(self.seconds, now - last)
            last = now

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()


class Busy(unittest.TestCase):
    """Two workers that have more threads than there are cores."""

    def on_a_fair_machine(self, check):
        """Runs it with a cluster of its own; what fails counts where threads of others got their turn meanwhile."""
        for _ in range(3):
            self.cluster = Cluster(2, worker_options=("--threads", str(2 * os.cpu_count())))
            with contextlib.closing(self.cluster), self.cluster.connect() as self.connection, LongestWait() as wait:
                try:
                    self.make_tensor()
                    return check()
                except (AssertionError, psycopg.Error):
                    if wait.seconds < HEARTBEAT_MS / 1000 / 2:
                        raise
        self.skipTest(f"a thread does not run on this machine for {wait.seconds:.2f} s")

    def make_tensor(self):
        self.cluster.wait_for_workers(self.connection)
        self.connection.execute("SET tile_bytes = '16MiB'")
        self.connection.execute(f"CREATE TENSOR A REPLICAS 2 AS EINSUM A[i {N}, j {N}] = (i * 7 + j * 3) % 5")

    def product(self, terms):
        """A sum of so many products of matrices, none of which is like another."""
        products = " + ".join(f"SUM((A[i,j] + {n}) * A[j,k])" for n in range(terms))
        return self.connection.execute(f"WITH P[i,k] = {products} EINSUM Z[] = SUM(P[i,k])").fetchone()[-1]

    def long_statement(self, seconds):
        """As many terms as take so long, and their value."""
        terms = 1
        while True:
            start = time.monotonic()
            value = self.product(terms)
            if time.monotonic() - start > seconds:
                return terms, value
            terms *= 2

    def status(self, connection):
        return self.cluster.statuses(connection)[self.cluster.workers[0].address]

    def test_who_computes_is_heard_of(self):
        def check():
            self.long_statement(LONG_SECONDS)
            self.assertNotIn("worker lost", self.cluster.log())

        self.on_a_fair_machine(check)

    def test_a_worker_is_drained_while_a_statement_runs(self):
        self.on_a_fair_machine(self.check_drain)

    def check_drain(self):
        terms, value = self.long_statement(LONG_SECONDS / 2)
        worker = self.cluster.workers[0]
        with concurrent.futures.ThreadPoolExecutor() as threads, self.cluster.connect() as other:
            running = threads.submit(self.product, terms)
            self.assertTrue(wait_until(lambda: self.status(other)["statements"] > 0))
            other.execute(f"DRAIN WORKER '{worker.address}'")
            self.assertTrue(wait_until(lambda: self.status(other)["state"] in ("draining", "lost")))
            # On the worker that is left.
            self.assertEqual(other.execute("EINSUM Z[] = SUM(A[i,j] * 0 + 1)").fetchone()[-1], N * N)
            self.assertEqual(running.result(), value)
            self.assertEqual(worker.process.wait(20), 0)
            self.assertTrue(wait_until(lambda: self.status(other)["state"] == "lost"))
            self.assertIn(f'worker lost node={worker.address} detail="it left: it was drained"', self.cluster.log())
            worker.restart()
            self.cluster.wait_for_workers(other)


class Small(unittest.TestCase):
    def test_a_tile_that_a_worker_has_no_memory_for(self):
        """It is the worker that has to be given more, whatever the session sets."""
        cluster = Cluster(2, worker_options=("--memory-limit", "32MiB"))
        self.addCleanup(cluster.close)
        with cluster.connect() as connection:
            cluster.wait_for_workers(connection)
            with self.assertRaises(psycopg.errors.OutOfMemory) as refused:
                connection.execute("CREATE TENSOR A PARTITION (1, 2) AS EINSUM A[i 2048, j 4096] = i - j")
            diagnosis = refused.exception.diag
            self.assertIn("--memory-limit", diagnosis.message_hint)
            self.assertNotIn("SET memory_limit", diagnosis.message_hint)
            connection.execute("CREATE TENSOR A PARTITION (16, 2) AS EINSUM A[i 2048, j 4096] = i - j")
            self.assertEqual(connection.execute("EINSUM Z[] = MAX(A[i,j])").fetchone()[-1], 2047)


if __name__ == "__main__":
    unittest.main()
