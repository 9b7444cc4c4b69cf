"""Two workers cannot reach each other, though the coordinator reaches both. The second one refuses connections of the
first one, never answers, or stops after the first messages. Statements end with the right result if there are other
copies, and otherwise with an error that names both workers. The fault is shown and logged, and statements run as before
once it is over.

    pairs_test.py EINDB
"""

import unittest

import psycopg

from nodes import Cluster, wait_until
from pair_proxy import PairProxy

WORKERS = 4
N = 64
TOTAL = N * N * (N - 1)
# Each worker connects to those before it in the list.
FROM, TO = 2, 1


class Pairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(WORKERS, behind_proxies=PairProxy)
        cls.addClassCleanup(cls.cluster.close)
        for worker in cls.cluster.workers:  # restarted on the known port, which is part of a worker's name
            worker.end()
            worker.start()
        cls.connection = cls.cluster.connect()
        cls.addClassCleanup(cls.connection.close)
        cls.cluster.wait_for_workers(cls.connection)
        cls.connection.execute("SET tile_bytes = 2048")
        cls.connection.execute(f"CREATE TENSOR Kept REPLICAS 2 AS EINSUM Kept[i {N}, j {N}] = i + j")
        cls.connection.execute(f"CREATE TENSOR Single AS EINSUM Single[i {N}, j {N}] = i + j")

    def total(self, tensor):
        """A query with the transposed tensor, so that all ranks send to each other."""
        query = f"EINSUM Z[] = SUM({tensor}[i,j] * {tensor}[j,i])"
        return self.connection.execute(query).fetchone()[-1]

    def reasons(self):
        statuses = self.cluster.statuses(self.connection)
        return [statuses[self.cluster.workers[n].address]["reason"] or "" for n in (FROM, TO)]

    def check(self, how):
        expected = sum((i + j) ** 2 for i in range(N) for j in range(N))
        source, target = self.cluster.workers[FROM], self.cluster.workers[TO]
        self.assertEqual(self.total("Kept"), expected)
        target.proxy.harm(how, f"127.0.0.1:{source._port}")
        try:
            self.cluster.wait_for_workers(self.connection)
            # After the first failure the workers probe each other. After the second one probes no longer count.
            for _ in range(2):
                self.assertEqual(self.total("Kept"), expected)
            self.assertTrue(all(self.reasons()), "it is known by now")
            self.assertEqual(self.total("Kept"), expected)
            self.assertIn(target.address, self.reasons()[0])
            self.assertIn(source.address, self.reasons()[1])
            self.assertIn("no data between workers", self.cluster.log())
            self.assertEqual(set(self.cluster.states(self.connection).values()), {"up"})
            with self.assertRaises(psycopg.Error) as caught:
                self.connection.execute("EINSUM Z[] = SUM(Single[i,j])")
            self.assertEqual(caught.exception.sqlstate, "58000")
            for address in (source.address, target.address):
                self.assertIn(address, str(caught.exception))
            self.connection.execute("SET workers = 0")
            self.assertEqual(self.total("Single"), expected, "the coordinator fetches what it reads")
        finally:
            self.connection.execute(f"SET workers = {WORKERS}")
            target.proxy.heal()
        self.cluster.wait_for_workers(self.connection)
        self.assertTrue(wait_until(lambda: not any(self.reasons())), self.reasons())
        self.assertIn("data between workers again", self.cluster.log())
        self.assertEqual(self.total("Single"), expected)

    def test_refused(self):
        self.check("refuse")

    def test_never_answered(self):
        self.check("stall")

    def test_taken_and_not_passed_on(self):
        self.check("late")

    def test_found_when_a_worker_joins(self):
        source, target = self.cluster.workers[FROM], self.cluster.workers[TO]
        target.proxy.harm("refuse", f"127.0.0.1:{source._port}")
        try:
            source.end()
            source.start()
            self.assertTrue(wait_until(lambda: target.address in self.reasons()[0]))
        finally:
            target.proxy.heal()
        self.assertTrue(wait_until(lambda: not any(self.reasons())))


if __name__ == "__main__":
    unittest.main()
