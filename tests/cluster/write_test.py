"""Workers are killed, stopped or cut off while statements other than EINSUM write tiles. Each statement has its full
effect or none, ends as soon as the fault is noticed, and reports an error that names the worker.

    write_test.py EINDB

EINDB_KILLS sets the number of tries (default 12). Moments are random with a fixed seed, from before the beginning of a
statement to after its end.
"""

import os
import random
import re
import sys
import threading
import time
import unittest

import numpy as np
import psycopg

from nodes import Cluster, Proxy

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from trials import Trials  # noqa: E402
from waiting import HANG_SECONDS  # noqa: E402

KILLS = int(os.environ.get("EINDB_KILLS", "12"))
ROWS = 200
WAYS = ("kill", "stop", "cut")
FIRST_SUM = ROWS * 64
NEW_SUM = ROWS * (ROWS - 1) // 2


class Write:
    """A statement that writes tiles of a tensor, or creates a tensor."""

    tensor = "Cells"
    # Each row of 64 columns is a tile.
    before = (f"CREATE TENSOR Cells REPLICAS 2 PARTITION ({ROWS}, 1) AS EINSUM Cells[i {ROWS}, j 64] = 1",)
    sums = (FIRST_SUM, NEW_SUM)  # before and after; None if the tensor does not exist

    def __init__(self, cluster):
        self.statement = self.make_statement(cluster)

    def make_statement(self, cluster):
        raise NotImplementedError

    def is_done(self, cluster, execute):
        """Whether the statement has had its effect on the tensor. A state other than before or after it is an error."""
        names = [row[0] for row in execute("SHOW TENSORS").fetchall()]
        found = None
        if self.tensor in names:
            found = execute(f"EINSUM Z[] = SUM({self.tensor}[i,j])").fetchone()[-1]
        if found not in self.sums:
            raise AssertionError(f"{self.tensor} has the sum {found}, and not one of {self.sums}")
        return found == self.sums[1]


class Insert(Write):
    def make_statement(self, cluster):
        cells = ", ".join(f"({i}, {j}, {i if j == 0 else 0})" for i in range(ROWS) for j in range(64))
        return f"INSERT INTO TENSOR Cells VALUES {cells}"


class CopyNew(Write):
    tensor = "New"
    before = ()
    sums = (None, NEW_SUM)

    def make_statement(self, cluster):
        return self.copy(cluster, self.tensor)

    def copy(self, cluster, name):
        path = os.path.join(cluster.files, "new.npy")
        values = np.zeros((ROWS, 64))
        values[:, 0] = np.arange(ROWS)
        np.save(path, values)
        return f"COPY {name} FROM '{path}'"


class CopyInto(CopyNew):
    tensor = "Cells"
    before = Write.before
    sums = Write.sums


class Repartition(Write):
    sums = (FIRST_SUM, FIRST_SUM)

    def make_statement(self, cluster):
        return f"ALTER TENSOR Cells PARTITION ({ROWS // 2}, 2)"

    def is_done(self, cluster, execute):
        super().is_done(cluster, execute)
        parts = "SELECT parts FROM eindb_dimensions JOIN eindb_tensors USING (tensor_id) WHERE name = 'Cells'"
        return cluster.query_file(parts) == [(ROWS // 2,), (2,)]


WRITES = (Insert, CopyNew, CopyInto, Repartition)


class HarmedWrites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(3, behind_proxies=Proxy)
        cls.addClassCleanup(cls.cluster.close)
        cls.connection = cls.cluster.connect()
        cls.addClassCleanup(cls.connection.close)
        cls.cluster.wait_for_workers(cls.connection)
        cls.longest = 0.0
        cls.outcomes = {"done": 0, "named errors": 0}

    def heal(self, worker, how):
        worker.heal(how)
        self.cluster.wait_for_workers(self.connection)

    def execute_surely(self, statement):
        """Executes a statement again if workers were lost due to other load, which is not tested here."""
        end = time.monotonic() + HANG_SECONDS
        while True:
            try:
                return self.connection.execute(statement)
            except psycopg.Error:
                if time.monotonic() > end or set(self.cluster.states(self.connection).values()) == {"up"}:
                    raise
                self.cluster.wait_for_workers(self.connection)

    def prepare(self, write):
        for statement in ("DROP TENSOR IF EXISTS Cells", "DROP TENSOR IF EXISTS New", *write.before):
            self.execute_surely(statement)

    def is_done(self, write):
        return write.is_done(self.cluster, self.execute_surely)

    def seconds_of(self, write):
        self.prepare(write)
        self.assertFalse(self.is_done(write))
        start = time.monotonic()
        self.execute_surely(write.statement)
        seconds = time.monotonic() - start
        self.assertTrue(self.is_done(write))
        return seconds

    def run_harmed(self, write, worker, how, delay):
        """Harms a worker during a write. Returns the error, if any, and the seconds from the harm to the end."""
        harm = threading.Timer(delay, worker.harm, (how,))
        start = time.monotonic()
        harm.start()
        error = None
        try:
            self.connection.execute(write.statement)
        except psycopg.Error as raised:
            error = raised
        seconds = time.monotonic() - start
        harm.join()
        return error, seconds - delay

    def check(self, write, worker, how, delay):
        self.prepare(write)
        logged = len(self.cluster.log())
        error, seconds = self.run_harmed(write, worker, how, delay)
        self.heal(worker, how)
        self.longest = max(self.longest, seconds)
        self.assertLess(seconds, HANG_SECONDS, "it hangs")
        self.assertEqual(self.is_done(write), error is None, error)
        if error is not None:
            self.assertEqual(error.sqlstate, "58000", error)
            lost = re.findall(r"worker lost node=(\S+)", self.cluster.log()[logged:])
            self.assertTrue(any(address in str(error) for address in lost), error)
        self.outcomes["done" if error is None else "named errors"] += 1
        self.assertEqual(self.cluster.wait_until_settled(), {})

    def test_all_or_nothing(self):
        moments = random.Random(11)
        usual = {}
        trials = Trials("worker_harms_of_writes")
        self.addCleanup(trials.print)
        for number in range(KILLS):
            write = WRITES[number // len(WAYS) % len(WRITES)](self.cluster)
            how = WAYS[number % len(WAYS)]
            kind = type(write).__name__
            if kind not in usual:
                usual[kind] = self.seconds_of(write)
            worker = moments.choice(self.cluster.workers)
            delay = moments.uniform(0, 1.2 * usual[kind])
            with self.subTest(number=number, write=kind, how=how, delay=round(delay, 4)), trials.trial():
                self.check(write, worker, how, delay)
        print(f"{KILLS} harmed: {self.outcomes}, ended at most {self.longest:.2f} s after", flush=True)


if __name__ == "__main__":
    unittest.main()
