"""While statements with known results run, real workers are harmed in one way after the other: they are killed,
stopped, restarted and cut off, their disks hang, fill and fail, and pairs of them cannot reach each other. No result is
wrong, and no statement has a part of its effect. Acknowledged changes are there, refused ones are not, tensors with two
replicas can be read, and every statement ends in time.

    faults_test.py EINDB HUNG_DISK FAULT_LAYER

The libraries make a disk hang (tests/cluster/hung_disk) and fail (tests/faults/layer). EINDB_WORKER_FAULTS sets the
number of faults (default 8), EINDB_WORKER_FAULTS_SEED the seed of the choices (1). EINDB_WORKER_FAULTS_ROUND runs a
single round, such as one that failed, and EINDB_WORKER_FAULTS_KINDS selects kinds by parts of their names, with commas
between them. Faults that did not take effect are not counted. The test prints a line of totals for each kind.
"""

import collections
import contextlib
import os
import random
import sys
import tempfile
import threading
import time
import unittest

import psycopg

FAULT_LAYER = os.path.abspath(sys.argv.pop(3))
HUNG_DISK = os.path.abspath(sys.argv.pop(2))

from nodes import Cluster  # noqa: E402: takes the program from the arguments
from pair_proxy import PairProxy  # noqa: E402
from small_disk import SmallDisk  # noqa: E402
from waiting import HANG_SECONDS, wait_until  # noqa: E402

FAULTS = int(os.environ.get("EINDB_WORKER_FAULTS", "8"))
SEED = int(os.environ.get("EINDB_WORKER_FAULTS_SEED", "1"))
ROUND = os.environ.get("EINDB_WORKER_FAULTS_ROUND")
KINDS = os.environ.get("EINDB_WORKER_FAULTS_KINDS", "").split(",")
FAULTS_OF_A_ROUND = 15
WORKERS = 4
N = 96
# A statement may exceed its statement_timeout by this time: docs/cluster.md. Statements that take longer are counted
# for `script/bench reliability`, on a machine without other load. The test only fails if one hangs.
MOST_BEYOND_SECONDS = 2.0
# After two statements have waited for a pair within a minute, probes of the pair do not count for a minute. The test
# does not wait for that.
PAIR_SECONDS = 15
# Operations that may fail for long. Locking is not among them, since the program waits for locks.
LONG_FAILING = "open,read,write,sync,truncate,rename,link,map,size,access"


# ---- Outcomes of statements ------------------------------------------------------------------------------------------


class Fault:
    """A fault, and the outcomes of the statements until the next fault."""

    def __init__(self, kind, text=""):
        self.kind = kind
        self.text = text
        self.problems = []
        self.hung = 0
        self.beyond = 0.0


class Record:
    """The faults of all rounds. Thread-safe."""

    def __init__(self):
        self._lock = threading.Lock()
        self.faults = []
        self.outcomes = collections.Counter()
        self.place = ""

    def begin(self, kind, text=""):
        with self._lock:
            self.faults.append(Fault(kind, text))
            return self.faults[-1]

    def forget(self, fault):
        """Removes a fault that did not take effect. It is kept if problems were found."""
        with self._lock:
            if not fault.problems:
                self.faults.remove(fault)

    def problem(self, text):
        with self._lock:
            fault = self.faults[-1]
            fault.problems.append(text)
            print(f"{self.place}, {fault.kind} {fault.text}: {text}", flush=True)

    def told(self, client, outcome, beyond):
        with self._lock:
            fault = self.faults[-1]
            self.outcomes[f"{client} {outcome}" if outcome == "done" else f"{client} {outcome} ({fault.kind})"] += 1
            fault.beyond = max(fault.beyond, beyond)
            fault.hung += beyond > MOST_BEYOND_SECONDS

    def print(self):
        for kind in sorted({fault.kind for fault in self.faults}):
            faults = [fault for fault in self.faults if fault.kind == kind]
            failed = sum(bool(fault.problems) for fault in faults)
            tries = 0 if kind in ("start", "end") else len(faults)
            print(f"reliability worker_faults kind={kind.replace(' ', '_')} tries={tries} failed={failed} "
                  f"hung={sum(fault.hung for fault in faults)} beyond={max(fault.beyond for fault in faults):.2f}")
        print(f"statements: {dict(sorted(self.outcomes.items()))}", flush=True)


class Refused(Exception):
    """A statement has failed, and must have had no effect."""


class Client(threading.Thread):
    """Runs statements whose results it knows, and reports their outcomes to the record."""

    # Allowed errors: lost workers, failed disks, time-outs, locks of other writers, and conflicts.
    ALLOWED = {"58000", "58030", "57014", "55P03", "40001"}

    def __init__(self, record, connect, timeout_seconds):
        super().__init__()
        self._record = record
        self._timeout_seconds = timeout_seconds
        self._stopping = threading.Event()
        self._connection = connect()
        self._connection.execute(f"SET statement_timeout = '{timeout_seconds}s'")
        self._connection.execute("SET tile_bytes = 4096")

    @property
    def name_of_kind(self):
        return type(self).__name__.lower()

    def problem(self, text):
        self._record.problem(f"{self.name_of_kind}: {text}")

    def ask(self, statement):
        """The rows of a statement. Raises Refused after an error."""
        began = time.monotonic()
        try:
            cursor = self._connection.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
            self._told(statement, "done", began)
            return rows
        except psycopg.Error as error:
            seconds = self._told(statement, str(error.sqlstate), began)
            if error.sqlstate not in self.ALLOWED:
                self.problem(f"{statement}: {error.sqlstate} {error}")
            elif error.sqlstate == "57014" and seconds < self._timeout_seconds - 0.1:
                self.problem(f"{statement}: after {seconds:.1f} s, which nobody has asked for: {error}")
            raise Refused(f"{error.sqlstate} {error}") from None

    def _told(self, statement, outcome, began):
        seconds = time.monotonic() - began
        beyond = seconds - self._timeout_seconds
        self._record.told(self.name_of_kind, outcome, max(0.0, beyond))
        if beyond > HANG_SECONDS:
            self.problem(f"{statement}: it took {seconds:.1f} s ({outcome}), with a statement_timeout of "
                         f"{self._timeout_seconds} s")  # fmt: skip
        return seconds

    def expect(self, statement, expected):
        found = self.ask(statement)[0][-1]
        if found != expected:
            self.problem(f"{statement}: it is {found}, and should be {expected}")

    def run(self):
        while not self._stopping.is_set():
            try:
                self.step()
            except Refused:
                self._stopping.wait(0.05)
            except Exception as error:  # noqa: BLE001: every exception is a problem
                self.problem(f"{type(error).__name__}: {error}")
                self._stopping.wait(0.5)
            self._stopping.wait(0.02)

    def step(self):
        raise NotImplementedError

    def stop(self):
        self._stopping.set()
        self.join()
        self._connection.close()


# ---- Clients -----------------------------------------------------------------------------------------------------------

SCHEMA = (
    "SET tile_bytes = 4096",
    f"CREATE TENSOR Kept REPLICAS 2 AS EINSUM Kept[i {N}, j {N}] = (i * 7 + j * 3) % 5",
    f"CREATE TENSOR Single AS EINSUM Single[i {N}, j {N}] = (i * 7 + j * 3) % 5",
    f"CREATE TENSOR Counter REPLICAS 2 AS EINSUM Counter[i {N}, j 16] = 0",
    "CREATE TABLE t (n INTEGER)",
)


def kept(i, j):
    return (i * 7 + j * 3) % 5


SUM = sum(kept(i, j) for i in range(N) for j in range(N))
# The transposed tensor is placed differently, so that all ranks send to each other.
CROSSED = sum(kept(i, j) * kept(j, i) for i in range(N) for j in range(N))


class Reader(Client):
    """Reads a tensor with two replicas. No single fault prevents that, except by a time-out."""

    def step(self):
        try:
            self.expect("EINSUM Z[] = SUM(Kept[i,j] * Kept[j,i])", CROSSED)
            self.expect("SELECT SUM(val) FROM Kept", SUM)
        except Refused as error:
            if not str(error).startswith("57014"):
                self.problem(f"there is another copy: {error}")
            raise


class SingleReader(Client):
    def step(self):
        self.expect("EINSUM Z[] = SUM(Single[i,j] * Single[j,i])", CROSSED)
        self.expect("EINSUM Z[] = SUM(Single[i,j])", SUM)


class Counter(Client):
    """Increments a tensor. It is the only writer, so it knows the values."""

    count = 0

    def step(self):
        self.ask("UPDATE TENSOR Counter[i,j] = Counter[i,j] + 1")
        self.count += 1
        ((least,), (most,)) = [row[-1:] for row in self.ask(
            "WITH a[] = MIN(Counter[i,j]), b[] = MAX(Counter[i,j]) EINSUM Z[t 2] = CASE WHEN t = 0 THEN a[] ELSE b[] END")]
        if (least, most) != (self.count, self.count):
            self.problem(f"cells are {least} to {most}, after {self.count} updates that were done")
            self.count = most


class Maker(Client):
    """Creates a tensor and drops it."""

    def is_there(self):
        return any(row[0] == "Made" for row in self.ask("SHOW TENSORS"))

    def expect_there(self, expected, after):
        if self.is_there() != expected:
            self.problem(f"the tensor is {'not ' * expected}there after {after}")

    def step(self):
        self.attempt("CREATE TENSOR Made REPLICAS 2 AS EINSUM Made[i,k] = Kept[i,k] + 0 * SUM(Kept[i,j] * Kept[j,k])", True)
        self.expect("EINSUM Z[] = SUM(Made[i,j])", SUM)
        self.attempt("DROP TENSOR Made", False)

    def attempt(self, statement, makes):
        """Executes a statement unless it has had its effect. A refused statement must have had none."""
        if self.is_there() == makes:
            return  # done before another statement of this step was refused
        try:
            self.ask(statement)
        except Refused as error:
            self.expect_there(not makes, error)
            raise
        self.expect_there(makes, "it was done")


class Rows(Client):
    """Inserts rows into a table, which does not lie at workers."""

    count = 0

    def step(self):
        self.ask("INSERT INTO t VALUES (1)")
        self.count += 1
        self.expect("SELECT COUNT(*) FROM t", self.count)


# ---- Faults ------------------------------------------------------------------------------------------------------------


class Harms:
    """Harms the workers of a cluster. Each harm is undone after a while. do() returns whether it had an effect."""

    def __init__(self, cluster, disk, rng):
        self._cluster = cluster
        self._disk = disk  # the disk of the first worker
        self._rng = rng
        self._fault = None
        self.kinds = {
            "killed": self.killed,
            "stopped": self.stopped,
            "restarted": self.restarted,
            "cut off": self.cut_off,
            "disk hangs": self.disk_hangs,
            "disk fails": self.disk_fails,
            "disk fails at the start": lambda: self.disk_fails(most=60),
            "pair refused": lambda: self.pair("refuse"),
            "pair stalled": lambda: self.pair("stall"),
            "pair stalled late": lambda: self.pair("late"),
        }
        if disk.is_mounted:
            self.kinds["disk full"] = self.disk_full

    def do(self, kind, fault):
        self._fault = fault
        return self.kinds[kind]() is not False

    def _worker(self):
        number = self._rng.randrange(WORKERS)
        self._fault.text = f"w{number}"
        return self._cluster.workers[number]

    def _wait(self, least, most):
        seconds = self._rng.uniform(least, most)
        self._fault.text += f" for {seconds:.2f} s"
        time.sleep(seconds)

    def killed(self):
        worker = self._worker()
        worker.harm("kill")
        self._wait(0, 2)
        worker.heal("kill")

    def stopped(self):
        worker = self._worker()
        worker.harm("stop")
        self._wait(0.1, 4)
        worker.heal("stop")

    def restarted(self):
        worker = self._worker()
        worker.end()
        self._wait(0, 1)
        worker.start()

    def cut_off(self):
        worker = self._worker()
        worker.harm("cut")
        self._wait(0.1, 4)
        worker.heal("cut")

    def disk_hangs(self):
        worker = self._worker()
        switch = f"{worker.folder}.hung"
        open(switch, "w").close()
        self._wait(0.2, 6)
        os.remove(switch)

    def disk_full(self):
        self._fault.text = "w0"
        self._disk.fill()
        self._wait(0.5, 4)
        self._disk.free()

    def disk_fails(self, most=2000):
        """A worker's disk fails from a random operation on, for a while. That may prevent the start of the worker."""
        worker = self._worker()
        first, count = self._rng.randrange(1, most), self._rng.choice([1, 1, 3, 50, 1000])
        error = self._rng.choice([5, 28])  # EIO, ENOSPC
        report = f"{worker.folder}.report"
        self._fault.text += f", {count} from {first} on, errno {error},"
        sane = worker.environment
        worker.end()
        worker.environment = {
            "LD_PRELOAD": FAULT_LAYER,
            "EINDB_FAULT": f"under={os.path.realpath(worker.folder)} first={first} count={count} error={error} "
                           f"report={report}" + (f" operations={LONG_FAILING}" if count > 3 else ""),
        }  # fmt: skip
        try:
            worker.start()
            self._wait(1, 4)
            worker.end()
        except (IndexError, ValueError):  # the worker could not start, so it did not print its port
            worker.process.wait(HANG_SECONDS)
            worker.process.stdout.close()
        finally:
            worker.environment = sane
            worker.start()
        with open(report) as file:
            return "failed=0" not in file.read()

    def pair(self, how):
        """Harms the connection between two workers. Each worker connects to those before it in the list."""
        first, second = sorted(self._rng.sample(range(WORKERS), 2))
        source, target = self._cluster.workers[second], self._cluster.workers[first]
        self._fault.text = f"w{second} to w{first}"
        target.proxy.harm(how, f"127.0.0.1:{source._port}")
        self._wait(1, 10)
        target.proxy.heal()


class FaultyCluster(Cluster):
    """A cluster whose workers' disks hang while a file exists. Its heartbeats are so long that other load on the
    machine does not look like a fault."""

    heartbeat_ms = 1000

    def __init__(self, folder):
        super().__init__(WORKERS, behind_proxies=PairProxy, folder=folder)
        for worker in self.workers:  # restarted on the known port, which is part of a worker's name
            worker.end()
            worker.options = ["--disk-timeout", "1s"]
            worker.environment = {"LD_PRELOAD": HUNG_DISK, "EINDB_HUNG_FOLDER": worker.folder,
                                  "EINDB_HUNG_WHILE": f"{worker.folder}.hung"}  # fmt: skip
            worker.start()


class Round:
    """A fresh cluster, clients, and a number of faults."""

    CLIENTS = ((Reader, 5), (Reader, 30), (SingleReader, 6), (Counter, 5), (Maker, 8), (Rows, 10))

    def __init__(self, record, number):
        self._record = record
        self._rng = random.Random(f"{SEED} worker faults {number}")
        record.place = f"seed {SEED}, round {number}"

    def run(self, faults):
        self._record.begin("start")
        with contextlib.ExitStack() as stack:
            self._set_up(stack)
            clients = [kind(self._record, self.cluster.connect, seconds) for kind, seconds in self.CLIENTS]
            for client in clients:
                client.start()
            try:
                self._harm(faults)
            finally:
                for client in clients:
                    client.stop()
            self._record.begin("end")
            self._check_end(clients)

    def _set_up(self, stack):
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.disk = SmallDisk(os.path.join(folder, "w0"))
        stack.callback(self.disk.close)
        self.cluster = FaultyCluster(folder)
        stack.callback(self.cluster.close)
        self.connection = stack.enter_context(self.cluster.connect())
        self.cluster.wait_for_workers(self.connection)
        for statement in SCHEMA:
            self.connection.execute(statement)

    def _harm(self, faults):
        harms = Harms(self.cluster, self.disk, self._rng)
        kinds = [kind for kind in harms.kinds if any(part in kind for part in KINDS)]
        done = 0
        while done < faults:
            for kind in self._rng.sample(kinds, len(kinds)):
                time.sleep(self._rng.uniform(0.05, 0.5))
                fault = self._record.begin(kind)
                was_met = harms.do(kind, fault)
                self._wait_until_well()
                done += was_met
                if not was_met:
                    self._record.forget(fault)
                if done == faults:
                    return

    def _statuses(self):
        return self.cluster.statuses(self.connection).values()

    def _wait_until_well(self):
        if not wait_until(lambda: {status["state"] for status in self._statuses()} == {"up"}):
            self._record.problem(f"a worker does not come back: {list(self._statuses())}")
        wait_until(lambda: not any(status["reason"] for status in self._statuses()), PAIR_SECONDS)

    def _check_end(self, clients):
        """Checks all data after the last fault."""
        counts = {type(client).__name__: client.count for client in clients if hasattr(client, "count")}
        if unsettled := self.cluster.wait_until_settled():
            self._record.problem(f"not settled: {unsettled}")
        for statement, expected in (
            ("EINSUM Z[] = SUM(Kept[i,j])", SUM),
            ("EINSUM Z[] = SUM(Single[i,j])", SUM),
            ("EINSUM Z[] = MIN(Counter[i,j])", counts["Counter"]),
            ("EINSUM Z[] = MAX(Counter[i,j])", counts["Counter"]),
            ("SELECT COUNT(*) FROM t", counts["Rows"]),
        ):
            found = self.connection.execute(statement).fetchone()[-1]
            if found != expected:
                self._record.problem(f"{statement}: it is {found}, and should be {expected}")


class WorkerFaults(unittest.TestCase):
    def test_right_or_refused_in_time(self):
        record = Record()
        self.addCleanup(record.print)
        for number, done in enumerate(range(0, FAULTS, FAULTS_OF_A_ROUND)):
            if ROUND is not None and int(ROUND) != number:
                continue
            with self.subTest(seed=SEED, round=number):
                try:
                    Round(record, number).run(min(FAULTS_OF_A_ROUND, FAULTS - done))
                except Exception as error:
                    record.problem(f"{type(error).__name__}: {error}")
                    raise
            print(f"{record.place}: {sum(record.outcomes.values())} statements so far", flush=True)
        self.assertEqual([problem for fault in record.faults for problem in fault.problems], [])


if __name__ == "__main__":
    unittest.main()
