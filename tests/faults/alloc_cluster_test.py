#!/usr/bin/python3
"""alloc_cluster_test.py EINDB SHIM: a server with two workers. The n-th allocation of the server, or of one worker,
fails while a statement runs on all of them.

The statement is done, or refused because memory or the worker is missing, and then the tensor is unchanged. The cluster
continues. EINDB_FAULTS=all tries every n; by default a sample is tried, with the seed EINDB_FAULTS_SEED.
"""

import os
import sys
import unittest

SHIM = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else None
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cluster"))
# A node that fails is missed for some seconds. bench/reliability tries more.
os.environ.setdefault("EINDB_FAULTS_TRIES", "15")

import psycopg  # noqa: E402
from alloc_control import ALLOCATIONS, THREADS, Control, Tally, trials  # noqa: E402
from nodes import Cluster, Worker, wait_until  # noqa: E402

# Memory, a worker, or the time to detect either may be missing.
REFUSALS = ("53200", "58000")
MESSAGES = ("no memory left", "cannot start a thread")


class Faulty:
    """Programs that start within the block load the library."""

    def __init__(self, control):
        self._environment = control.environment()

    def __enter__(self):
        self._before = dict(os.environ)
        os.environ.update(self._environment)

    def __exit__(self, *_):
        os.environ.clear()
        os.environ.update(self._before)


class FaultyWorker(Worker):
    def __init__(self, control, folder):
        self._control = control
        super().__init__(folder)

    def start(self):
        with Faulty(self._control):
            super().start()


class FaultyCluster(Cluster):
    """A cluster in which calls of the server and of the last worker can be made to fail."""

    heartbeat_ms = 250  # a worker whose connection was lost is back after about one heartbeat

    def __init__(self, server_control, worker_control):
        self._server_control = server_control
        super().__init__(1)
        self.workers.append(FaultyWorker(worker_control, os.path.join(self._folder.name, "w1")))
        self.end_server()
        self.start_server()

    def start_server(self):
        with Faulty(self._server_control):
            super().start_server()


class Enumeration(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.controls = {"coordinator": Control(SHIM), "worker": Control(SHIM)}
        cls.cluster = FaultyCluster(cls.controls["coordinator"], cls.controls["worker"])
        cls.connection = None

    @classmethod
    def tearDownClass(cls):
        if cls.connection is not None:
            cls.connection.close()
        cls.cluster.close()
        for control in cls.controls.values():
            control.close()

    def ask(self, statement):
        cls = type(self)
        if cls.connection is None or cls.connection.closed:
            cls.connection = psycopg.connect(host="127.0.0.1", port=cls.cluster.port, user="ada", dbname="s",
                                             autocommit=True, prepare_threshold=None,
                                             options="-c small_statements=workers")  # fmt: skip
        cursor = cls.connection.execute(statement)
        return cursor.fetchall() if cursor.description else []

    def all_are_up(self):
        try:
            rows = self.ask("SHOW WORKERS")
        except psycopg.Error:
            return False
        return len(rows) == 2 and all("up" in row for row in rows)

    def revive(self):
        """Restarts programs that have ended. Returns a description of them, which is empty if there are none."""
        ended = []
        for worker in self.cluster.workers:
            if worker.process.poll() is not None:
                ended.append(f"a worker has ended with {worker.process.returncode}")
                worker.restart()
        if self.cluster.server.poll() is not None:
            ended.append(f"the server has ended with {self.cluster.server.returncode}")
            self.cluster.server.stdout.close()
            self.cluster.start_server()
        if not wait_until(self.all_are_up):
            ended.append("a worker does not come back")
        return ", ".join(ended)

    def settled(self, ask):
        """The result of ask(). A node without memory for its connections opens new ones. Other nodes may not have
        noticed that yet, so refusals are repeated."""
        for _ in range(5):
            try:
                return ask()
            except psycopg.Error as error:
                if error.sqlstate not in REFUSALS:
                    raise
            self.assertTrue(wait_until(self.all_are_up), "a worker does not come back")
        return ask()

    def end_workers(self):
        for worker in self.cluster.workers:
            worker.process.kill()
            worker.process.wait()

    def try_one(self, control, statement, trial, kinds, wanted=None):
        with control.failing(*trial, kinds):
            try:
                rows = self.ask(statement)
                result = "done" if wanted in (None, rows) else f"another result: {rows}"
            except psycopg.Error as error:
                known = error.sqlstate in REFUSALS or any(words in str(error) for words in MESSAGES)
                result = "refused" if known else f"{error.sqlstate} {error!s}"
        return result, *control.counts

    def enumerate(self, who, statement, state, undo=None, kinds=ALLOCATIONS):
        control = self.controls[who]
        self.assertTrue(wait_until(self.all_are_up))
        self.ask("SET statement_timeout = 30000")
        # Tiles that the session keeps would be read from the worker only after others have written.
        self.ask("SET tile_cache_size = 0" if who == "worker" else "RESET tile_cache_size")
        for _ in range(2):
            before = state()
            rows = self.ask(statement)
            after = state()
            if undo:
                self.ask(undo)
        calls = self.try_one(control, statement, (0, 1), kinds)[1]
        if undo:
            self.ask(undo)
        tally = Tally(f"{who}: {statement.split()[0].lower()}{', threads' if kinds == THREADS else ''}")
        for trial in trials(calls):
            self.assertEqual(self.settled(state), before)
            result, _, failed = self.try_one(control, statement, trial, kinds, rows)
            problem = self.revive()
            try:
                found = self.settled(state)
            except psycopg.Error as error:
                problem += f"{result}, and the next statement: {error!s}"
                self.end_workers()
                self.revive()
                found = self.settled(state)
            if not problem and found != (after if result == "done" else before):
                problem = f"{result}, but {found}"
            if failed:
                tally.add(trial, result, problem)
            if found != before:
                self.settled(lambda: self.ask(undo))
        unsettled = self.cluster.wait_until_settled()
        tally.report(calls)
        self.assertGreater(calls, 0)
        self.assertEqual(tally.problems, [])
        self.assertEqual(unsettled, {})

    def is_read_from_the_worker(self):
        control = self.controls["worker"]
        with control.failing(0, 1):
            self.ask("SELECT i, SUM(val) FROM A GROUP BY i")
        return control.counts[0] > 0

    def make(self):
        # A failure in the previous test may have closed connections to workers afterwards, and a tensor that is created
        # while a worker is missed has all tiles at the other one.
        def is_made():
            try:
                self.ask("DROP TENSOR IF EXISTS A")
                self.ask("CREATE TENSOR A PARTITION (2, 2) AS EINSUM A[i 6, j 6] = i * 6 + j")
                return self.is_read_from_the_worker()
            except psycopg.Error:
                return False

        self.assertTrue(wait_until(self.all_are_up), "a worker does not come back")
        self.assertTrue(wait_until(is_made), "the workers do not take a tensor")

    def create(self, who):
        self.make()
        self.enumerate(who, "CREATE TENSOR N AS EINSUM N[i,k] = SUM(A[i,j] * A[j,k]) + 1",
                       lambda: self.ask("SELECT name FROM eindb_tensors ORDER BY name"), "DROP TENSOR N")  # fmt: skip

    def update(self, who):
        self.make()
        self.enumerate(who, "UPDATE TENSOR A[i,j] = A[i,j] + 1", lambda: self.ask("EINSUM s[] = SUM(A[i,j])"),
                       "UPDATE TENSOR A[i,j] = A[i,j] - 1")  # fmt: skip

    def tensors(self):
        return self.ask("SELECT name FROM eindb_tensors ORDER BY name")

    def read(self, who, kinds=ALLOCATIONS):
        self.make()
        self.enumerate(who, "EINSUM s[i] = MAX[j](A[i,j]) + SUM(A[i,k] * A[k,i])", self.tensors, None, kinds)

    def select(self, who):
        self.make()
        self.enumerate(who, "SELECT i, SUM(val) FROM A GROUP BY i ORDER BY i", self.tensors)

    def drop(self, who):
        self.make()
        self.enumerate(who, "DROP TENSOR A", self.tensors,
                       "CREATE TENSOR A PARTITION (2, 2) AS EINSUM A[i 6, j 6] = i * 6 + j")  # fmt: skip

    def test_einsum_where_the_coordinator_fails(self):
        self.read("coordinator")

    def test_einsum_where_a_worker_fails(self):
        self.read("worker")

    def test_threads_of_a_worker(self):
        self.read("worker", THREADS)

    def test_select_where_the_coordinator_fails(self):
        self.select("coordinator")

    def test_select_where_a_worker_fails(self):
        self.select("worker")

    def test_drop_where_the_coordinator_fails(self):
        self.drop("coordinator")

    def test_drop_where_a_worker_fails(self):
        self.drop("worker")

    def test_create_where_the_coordinator_fails(self):
        self.create("coordinator")

    def test_create_where_a_worker_fails(self):
        self.create("worker")

    def test_update_where_the_coordinator_fails(self):
        self.update("coordinator")

    def test_update_where_a_worker_fails(self):
        self.update("worker")


if __name__ == "__main__":
    unittest.main()
