"""Workers are killed, stopped or cut off at random moments of a statement. The statement ends with the right result, or
with an error that names the worker and, if its data is lost, the tensor. No result is wrong, and no statement hangs.

    kill_test.py EINDB

EINDB_KILLS sets the number of tries (default 8). Moments are random with a fixed seed, from before the beginning of a
statement to after its end.
"""

import os
import random
import sys
import threading
import time
import unittest

import psycopg

from nodes import Cluster, Proxy

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from trials import Trials  # noqa: E402
from waiting import HANG_SECONDS  # noqa: E402

KILLS = int(os.environ.get("EINDB_KILLS", "8"))
WORKERS = 4
N = 700

# Values are small whole numbers, so sums are exact in any order.
SCRIPT = f"""
CREATE TENSOR Kept FLOAT64 REPLICAS 2 AS EINSUM Kept[i {N}, j {N}] = (i * 7 + j * 3) % 5;
CREATE TENSOR Single FLOAT64 AS EINSUM Single[i {N}, j {N}] = (i * 7 + j * 3) % 5;
"""
QUERY = """
WITH P[i,k] = SUM({0}[i,j] * {0}[j,k]), Q[i,k] = SUM(P[i,j] * {0}[j,k])
EINSUM Z[] = SUM(Q[i,j] * {0}[j,i])
"""
WRITE = """
CREATE TENSOR Made REPLICAS 2 AS WITH P[i,k] = SUM({0}[i,j] * {0}[j,k])
EINSUM Made[i,k] = SUM(P[i,j] * {0}[j,k])
"""
MADE = "EINSUM Z[] = SUM(Made[i,j] * Kept[j,i])"


class Kills(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(WORKERS, behind_proxies=Proxy)
        cls.addClassCleanup(cls.cluster.close)
        cls.connection = cls.cluster.connect()
        cls.addClassCleanup(cls.connection.close)
        cls.cluster.wait_for_workers(cls.connection)
        for statement in SCRIPT.strip().split(";\n"):
            cls.connection.execute(statement)
        start = time.monotonic()
        cls.expected = cls.value(QUERY.format("Kept"))
        cls.seconds = time.monotonic() - start
        if cls.value(QUERY.format("Single")) != cls.expected:
            raise AssertionError("both tensors have the same values")

    @classmethod
    def value(cls, query):
        return cls.connection.execute(query).fetchone()[-1]

    def heal(self, worker, how):
        worker.heal(how)
        self.cluster.wait_for_workers(self.connection)

    def run_harmed(self, worker, how, statement, delay):
        """Harms a worker during a statement. Returns the statement's value or error, and the time of its end."""
        timer = threading.Timer(delay, worker.harm, (how,))
        timer.start()
        try:
            rows = self.connection.execute(statement)
            outcome = rows.fetchone()[-1] if rows.description else None
        except psycopg.Error as error:
            outcome = error
        ended = time.monotonic()
        timer.join()
        return outcome, ended

    def check(self, number, moments):
        how = ("kill", "stop", "cut")[number % 3]
        tensor = ("Kept", "Single")[number // 3 % 2]
        writes = number // 6 % 2 == 1
        worker = moments.choice(self.cluster.workers)
        statement = (WRITE if writes else QUERY).format(tensor)
        delay = moments.uniform(0, 1.3 * self.seconds)
        with self.subTest(number=number, how=how, tensor=tensor, writes=writes, delay=round(delay, 3)), self.trials.trial():
            start = time.monotonic()
            outcome, ended = self.run_harmed(worker, how, statement, delay)
            self.heal(worker, how)
            made = any(row[0] == "Made" for row in self.connection.execute("SHOW TENSORS").fetchall())
            value = self.value(MADE) if made else None
            self.connection.execute("DROP TENSOR IF EXISTS Made")
            self.assertLess(ended - start, HANG_SECONDS, "it hangs")
            self.assertEqual(made, writes and not isinstance(outcome, psycopg.Error), "all or nothing")
            if isinstance(outcome, psycopg.Error):
                # A tensor with two replicas is not lost with one worker.
                self.assertEqual(tensor, "Single", outcome)
                self.assertEqual(outcome.sqlstate, "58000", outcome)
                self.assertIn(worker.address, str(outcome))
                self.assertIn("Single", str(outcome))
            else:
                self.assertEqual(value if writes else outcome, self.expected)
            self.assertEqual(self.value_of_all_workers(), self.expected)
            kind = "named errors" if isinstance(outcome, psycopg.Error) else "right"
            self.outcomes[kind] = self.outcomes.get(kind, 0) + 1
            self.longest = max(self.longest, ended - start - delay)

    def value_of_all_workers(self):
        """The value of a query on all workers. After a cut a worker may count as up until its dead connections are
        noticed, so the query is repeated."""
        end = time.monotonic() + HANG_SECONDS
        while True:
            try:
                return self.value(QUERY.format("Single"))
            except psycopg.Error as error:
                if error.sqlstate != "58000" or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def test_clients_of_a_server_use_its_workers(self):
        plan = self.connection.execute("EXPLAIN " + QUERY.format("Kept")).fetchall()
        self.assertIn(f"Placed on {WORKERS} of {WORKERS} workers", "\n".join(row[0] for row in plan))

    def test_right_or_named(self):
        moments = random.Random(7)
        self.outcomes = {}
        self.longest = 0.0
        self.trials = Trials("worker_harms")
        self.addCleanup(self.trials.print)
        for number in range(KILLS):
            self.check(number, moments)
        print(f"{KILLS} harmed: {self.outcomes}, ended at most {self.longest:.2f} s after", flush=True)


if __name__ == "__main__":
    unittest.main()
