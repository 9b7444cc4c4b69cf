"""Clients of the server, the shell and the C++ API read and write while processes are killed, stopped, opened and
closed beside each other, disks fill and freeze, and workers come and go. checks.py judges the answers: nothing
acknowledged is lost, no partial or uncommitted transaction is read, no update is lost, and one order explains all
answers.

    history_test.py EINDB API_CLIENT

EINDB_HISTORY_HARMS sets the number of harms (default 120), EINDB_HISTORY_SEED the seed of the choices (1).
EINDB_HISTORY_ROUND runs a single round, such as one that failed. EINDB_HISTORY_KINDS selects harms by parts of their
names, with commas between them: `killed` selects all kills. The test prints a line of totals: harms of each kind,
transactions by outcome, and anomalies. Harms that did not find a target are not counted.
"""

import collections
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

API_CLIENT = sys.argv.pop(2)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cluster"))

import nodes  # noqa: E402  takes the program from the arguments
import psycopg  # noqa: E402
from checks import check  # noqa: E402
from clients import ApiClient, ApiProgram, Hung, ServerClient, ShellClient  # noqa: E402
from disks import Disk  # noqa: E402
from transactions import History, Operation, Outcome  # noqa: E402
from waiting import HANG_SECONDS  # noqa: E402
from workload import LISTS, REGISTERS, SCHEMA, TABLES, Workload  # noqa: E402

HARMS = int(os.environ.get("EINDB_HISTORY_HARMS", "120"))
SEED = int(os.environ.get("EINDB_HISTORY_SEED", "1"))
ROUND = os.environ.get("EINDB_HISTORY_ROUND")
KINDS = os.environ.get("EINDB_HISTORY_KINDS", "").split(",")
HARMS_OF_A_ROUND = 20
# The statement_timeout, and the longest time of a statement (docs/operation.md), including the pause of a stopped
# process. Slower statements are counted for `script/bench reliability`, on a machine without other load. The test only
# fails if one hangs.
TIMEOUT_SECONDS = 10
PAUSE_SECONDS = 0.3
LONGEST_SECONDS = TIMEOUT_SECONDS + 2 + PAUSE_SECONDS
CAN_MOUNT = os.geteuid() == 0


class Totals:
    """The totals of all rounds."""

    def __init__(self):
        self.harms = collections.Counter()
        self.outcomes = collections.Counter()
        self.anomalies = 0
        self.hung = 0
        self.other = 0  # rounds that failed for other reasons
        self.longest = 0.0  # seconds of the slowest statement

    def add(self, history, clients):
        self.outcomes.update(transaction.outcome.value for transaction in history.transactions)
        self.longest = max(self.longest, *(client.longest for client in clients))

    def print(self, name):
        harms = sum(self.harms.values())
        failed = self.anomalies + self.hung + self.other
        print(f"{name}: {dict(self.harms)}; transactions {dict(self.outcomes)}")
        print(f"reliability {name} tries={harms} failed={failed} hung={self.hung} "
              f"beyond={max(0.0, self.longest - TIMEOUT_SECONDS):.1f}", flush=True)  # fmt: skip


class Server:
    """`eindb serve` with a file, or with a file and workers. It is killed and started again."""

    def __init__(self, cluster):
        self.cluster = cluster
        self._lock = threading.Lock()  # guards the process while it is started or ended
        self._options = ["-c", f"statement_timeout={TIMEOUT_SECONDS}s"]

    def connect(self):
        return psycopg.connect(host="127.0.0.1", port=self.cluster.port, user="ada", dbname="s", autocommit=True,
                               connect_timeout=20, options=" ".join(self._options))  # fmt: skip

    def restart(self, number):
        with self._lock:
            self.cluster.end_server(number)
            self.cluster.start_server()

    def pause(self, seconds):
        with self._lock:
            self.cluster.server.send_signal(signal.SIGSTOP)
            time.sleep(seconds)
            self.cluster.server.send_signal(signal.SIGCONT)


class Round:
    """A fresh database, clients, and a number of harms."""

    workers = 0

    def __init__(self, test, seed, totals):
        self.test = test
        self.seed = seed
        self.rng = random.Random(f"harms {seed}")
        self.totals = totals
        self.history = History()
        self.stack = contextlib.ExitStack()

    def run(self, harms):
        with self.stack:
            self.set_up()
            self.workload = Workload(self.history, self.clients, self.seed, self.tables_only)
            self.workload.start()
            try:
                for _ in range(harms):
                    self.do_harm()
                time.sleep(0.2)
            finally:
                self.workload.stop()
            self.settle()
            self.read_all()
            self.judge()

    def do_harm(self):
        """Does one harm. Harms without a target are skipped: a client may have no process at the moment."""
        names = [name for name in self.harms if any(kind in name for kind in KINDS)]
        for _ in range(1000):
            time.sleep(self.rng.uniform(0.02, 0.4))
            name = self.rng.choice(names)
            if self.harms[name]() is not False:
                self.totals.harms[name] += 1
                return
        self.test.fail(f"nothing is there to be harmed by any of {names}")

    # ---- The set-up

    def set_up(self):
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.disk = None
        if CAN_MOUNT:
            self.disk = Disk(os.path.join(folder, "disk"), os.path.join(folder, "disk.img"), 256)
            self.stack.callback(self.disk.close)
            folder = self.disk.folder
        self.cluster = self.make_cluster(folder)
        self.stack.callback(self.cluster.close)
        self.path = self.cluster.database
        self.server = Server(self.cluster)
        with self.server.connect() as connection:
            if self.workers:
                self.cluster.wait_for_workers(connection)
            for statement in SCHEMA:
                connection.execute(statement.format("REPLICAS 2" if self.workers else ""))
        self.shell = ShellClient([nodes.EINDB, self.path, *self.cluster.shell_options])
        self.program = ApiProgram([API_CLIENT, self.path])
        self.stack.callback(self.program.end)
        self.clients = [
            *(ServerClient(self.server.connect) for _ in range(3)),
            self.shell,
            ApiClient(self.program, 0),
            ApiClient(self.program, 1),
        ]
        # Programs of the API cannot use workers.
        self.tables_only = ("api",) if self.workers else ()
        self.harms = {
            "server killed": lambda: self.server.restart(signal.SIGKILL),
            "server ended": lambda: self.server.restart(signal.SIGTERM),
            "server stopped": lambda: self.server.pause(PAUSE_SECONDS),
            "shell killed": self.shell.kill,
            "program killed": self.program.kill,
            "connection of the program closed": lambda: self.program.reopen(self.rng.choice([0, 1])),
            "opened by the shell": self.open_by_shell,
            "opened by sqlite3": self.open_by_sqlite,
        }
        if self.disk:
            self.harms["disk full"] = self.fill_disk

    def make_cluster(self, folder):
        return nodes.Cluster(0, folder=folder)

    # ---- Harms

    def open_by_shell(self):
        subprocess.run([nodes.EINDB, self.path, *self.cluster.shell_options, "-c", "SELECT COUNT(*) FROM appended"],
                       capture_output=True, timeout=240)  # fmt: skip

    def open_by_sqlite(self):
        """Reads the file by SQLite alone."""
        with contextlib.closing(sqlite3.connect(self.path, timeout=1)) as connection:
            with contextlib.suppress(sqlite3.OperationalError):
                connection.execute("SELECT COUNT(*) FROM appended").fetchall()

    def fill_disk(self):
        self.disk.fill(leave=self.rng.choice([0, 4096, 65536, 1 << 20]))
        time.sleep(0.5)
        self.disk.free()

    # ---- The end

    def settle(self):
        pass

    def read_all(self):
        """Reads all keys by a client of each kind, after all harms."""
        rng = random.Random(0)
        for client in {client.name: client for client in self.clients}.values():
            keys = TABLES if client.name in self.tables_only else (*TABLES, *LISTS)
            for key in keys:
                self.read_again(client, Operation("read", key), rng)
            for key in () if client.name in self.tables_only else REGISTERS:
                self.read_again(client, Operation("look", key), rng)

    def read_again(self, client, operation, rng):
        """Executes a read, up to three times, since a client may have to notice first that its connection is closed."""
        for _ in range(3):
            transaction = self.workload.execute(client, f"{client.name} at the end", [operation], rng)
            if transaction.outcome is Outcome.DONE:
                return
        self.test.fail(f"cannot be read at the end: {transaction}")

    def judge(self):
        self.totals.add(self.history, self.clients)
        anomalies = check(self.history.transactions)
        if anomalies and (path := os.environ.get("EINDB_HISTORY_DUMP")):
            with open(path, "w") as file:
                file.writelines(f"{transaction}\n" for transaction in self.history.transactions)
        hung = [str(transaction) for transaction in self.workload.hung]
        hung += [f"{client.name}: {client.longest:.1f} s" for client in self.clients if client.longest > HANG_SECONDS]
        self.totals.anomalies += len(anomalies)
        self.totals.hung += len(self.workload.hung) + sum(client.longest > LONGEST_SECONDS for client in self.clients)
        self.test.assertEqual(hung, [])
        self.test.assertEqual([f"{anomaly.rule}: {anomaly.text}" for anomaly in anomalies[:5]], [])
        self.cluster.end_server()
        for client in self.clients:
            client.close()
        with contextlib.closing(sqlite3.connect(self.path)) as connection:
            self.test.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.cluster.start_server()


class ClusterRound(Round):
    """Tensors lie at workers, with two replicas."""

    workers = 3

    def make_cluster(self, folder):
        self.frozen = None
        if CAN_MOUNT:
            self.frozen = Disk(os.path.join(folder, "w0"), f"{folder}.w0.img", 64)
            self.stack.callback(self.frozen.close)
        return nodes.Cluster(self.workers, folder=folder)

    def set_up(self):
        super().set_up()
        self.harms["worker killed"] = lambda: self.harm_worker("kill", 0)
        self.harms["worker stopped"] = lambda: self.harm_worker("stop", 1)
        if self.frozen:
            self.harms["worker's disk frozen"] = self.freeze
            self.harms["worker's disk full"] = self.fill_worker

    def harm_worker(self, how, seconds):
        """Harms one worker, and waits until all are up again. So one of two replicas is always available."""
        worker = self.rng.choice(self.cluster.workers)
        worker.harm(how)
        time.sleep(seconds)
        worker.heal(how)
        self.wait_for_workers()

    def wait_for_workers(self):
        with self.server.connect() as connection:
            self.cluster.wait_for_workers(connection)

    def freeze(self):
        self.frozen.freeze()
        time.sleep(2)
        self.frozen.thaw()
        self.wait_for_workers()

    def fill_worker(self):
        self.frozen.fill()
        time.sleep(1)
        self.frozen.free()
        self.wait_for_workers()

    def settle(self):
        """Waits until everything is settled. The server also ends transactions that a killed shell has prepared, and
        removes tiles that readers have held back."""
        self.wait_for_workers()
        self.test.assertEqual(self.cluster.wait_until_settled(), {})


class Histories(unittest.TestCase):
    def run_rounds(self, name, kind, harms):
        totals = Totals()
        try:
            for number, done in enumerate(range(0, harms, HARMS_OF_A_ROUND)):
                if ROUND is None or int(ROUND) == number:
                    self.run_round(kind, f"{SEED} {name} {number}", min(HARMS_OF_A_ROUND, harms - done), totals)
        finally:
            totals.print(name)

    def run_round(self, kind, seed, harms, totals):
        counted = totals.anomalies + totals.hung
        with self.subTest(seed=seed):
            try:
                kind(self, seed, totals).run(harms)
            except BaseException:
                totals.other += totals.anomalies + totals.hung == counted
                raise

    def test_one_file(self):
        self.run_rounds("history_file", Round, HARMS // 2)

    def test_workers(self):
        self.run_rounds("history_workers", ClusterRound, HARMS - HARMS // 2)


if __name__ == "__main__":
    unittest.main()
