"""Tests a cluster under load, without faults: workers that start late, that compute on all their threads, and that are
drained while a statement runs.

    busy_test.py EINDB
"""

import concurrent.futures
import functools
import os
import time
import unittest

import psycopg

from nodes import Cluster
from waiting import HANG_SECONDS, wait_until

N = 2048


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
            # This is the first statement after the start that needs workers.
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


class BusyCluster(Cluster):
    """Its workers may be silent for six seconds. Other load does not keep a nearly idle thread waiting that long."""

    heartbeat_ms = 2000


class Busy(unittest.TestCase):
    """Two workers with more threads than cores. Statements grow until they run long enough, which is told from the
    events during the statement."""

    def setUp(self):
        self.cluster = BusyCluster(2, worker_options=("--threads", str(2 * os.cpu_count())))
        self.addCleanup(self.cluster.close)
        self.connection = self.cluster.connect()
        self.addCleanup(self.connection.close)
        self.cluster.wait_for_workers(self.connection)
        self.connection.execute("SET tile_bytes = '16MiB'")
        self.connection.execute(f"CREATE TENSOR A REPLICAS 2 AS EINSUM A[i {N}, j {N}] = (i * 7 + j * 3) % 5")
        self.threads = self.enterContext(concurrent.futures.ThreadPoolExecutor())
        self.other = self.cluster.connect()
        self.addCleanup(self.other.close)

    def product(self, terms):
        """The sum of a number of distinct matrix products, computed by the cluster."""
        products = " + ".join(f"SUM((A[i,j] + {n}) * A[j,k])" for n in range(terms))
        return self.connection.execute(f"WITH P[i,k] = {products} EINSUM Z[] = SUM(P[i,k])").fetchone()[-1]

    @functools.cache
    def value(self, terms):
        """The same sum, computed from the sums of columns and rows."""
        columns = [sum((i * 7 + j * 3) % 5 for i in range(N)) for j in range(N)]
        rows = [sum((j * 7 + k * 3) % 5 for k in range(N)) for j in range(N)]
        return sum((column + n * N) * row for column, row in zip(columns, rows) for n in range(terms))

    def status(self):
        return self.cluster.statuses(self.other)[self.cluster.workers[0].address]

    def heartbeats_during(self, running):
        """The number of heartbeats of the first worker while the statement runs. Each one resets heartbeat_age."""
        heartbeats = 0
        last = self.status()["heartbeat_age"]
        while not running.done():
            age = self.status()["heartbeat_age"]
            heartbeats += age < last
            last = age
            time.sleep(0.02)
        return heartbeats

    def test_who_computes_is_heard_of(self):
        terms = 1
        while True:
            running = self.threads.submit(self.product, terms)
            heartbeats = self.heartbeats_during(running)
            self.assertEqual(running.result(), self.value(terms))
            if heartbeats > 4:  # more than a worker may miss
                break
            terms *= 2
        self.assertNotIn("worker lost", self.cluster.log())

    def test_a_worker_is_drained_while_a_statement_runs(self):
        terms = 1
        while not self.drain_beside(terms):
            terms *= 2

    def drain_beside(self, terms):
        """Drains a worker while a statement runs on it. Returns whether that statement still ran after the drain had
        begun and another statement had run without the worker."""
        worker = self.cluster.workers[0]
        running = self.threads.submit(self.product, terms)
        self.assertTrue(wait_until(lambda: running.done() or self.status()["statements"] > 0))
        logged = len(self.cluster.log())
        self.other.execute(f"DRAIN WORKER '{worker.address}'")
        self.assertTrue(wait_until(lambda: self.status()["state"] in ("draining", "lost")))
        # The remaining worker runs this statement.
        self.assertEqual(self.other.execute("EINSUM Z[] = SUM(A[i,j] * 0 + 1)").fetchone()[-1], N * N)
        still_runs = not running.done()
        self.assertEqual(running.result(), self.value(terms))
        self.assertEqual(worker.process.wait(HANG_SECONDS), 0)
        self.assertTrue(wait_until(lambda: self.status()["state"] == "lost"))
        lost = f'worker lost node={worker.address} detail="it left: it was drained"'
        self.assertTrue(wait_until(lambda: lost in self.cluster.log()[logged:]), self.cluster.log()[logged:])
        worker.restart()
        self.cluster.wait_for_workers(self.other)
        return still_runs


class Small(unittest.TestCase):
    def test_a_tile_that_a_worker_has_no_memory_for(self):
        """The hint says to give the worker more memory, since no setting of the session helps."""
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
