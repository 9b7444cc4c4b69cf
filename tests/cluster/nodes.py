"""A cluster to test: `eindb worker` processes and an `eindb serve` that uses them, all on loopback.

The program is the first argument of the tests' command.
"""

import os
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import psycopg

EINDB = sys.argv.pop(1)
HEARTBEAT_MS = 200
# A worker that is back is connected to within five heartbeats, and settled with the next ones. Other work on the machine
# takes its time.
SETTLED_SECONDS = 15 * HEARTBEAT_MS / 1000 + 5


def wait_until(condition, seconds=20):
    """Whether it comes true in time; looked at often, as what is waited for mostly takes a few heartbeats."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def ready_port(process, seconds=20):
    """The port that a program says it listens on, at the end of its first line."""
    if not select.select([process.stdout], [], [], seconds)[0]:
        raise TimeoutError("the program does not say that it listens")
    return int(process.stdout.readline().rsplit(":", 1)[-1].split()[-1])


def read_database(path, sql):
    file = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=20)
    try:
        return file.execute(sql).fetchall()
    finally:
        file.close()


class Proxy:
    """Stands between a worker and everyone else, so that its network can be cut without its knowledge."""

    def __init__(self, port):
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._pairs = []
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                worker = socket.create_connection(("127.0.0.1", self._target), timeout=5)
            except OSError:
                client.close()
                continue
            for end in (client, worker):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                end.settimeout(None)
            with self._lock:
                self._pairs.append((client, worker))
            threading.Thread(target=self._serve, args=(client, worker), daemon=True).start()

    def _serve(self, client, worker):
        with client, worker:
            answers = threading.Thread(target=self._forward, args=(worker, client), daemon=True)
            answers.start()
            self._forward(client, worker)
            answers.join()

    def _forward(self, source, target):
        try:
            while data := source.recv(1 << 18):
                while self._is_cut:  # nothing comes through, and nobody is told
                    threading.Event().wait(0.01)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def cut(self):
        self._is_cut = True

    def mend(self):
        """What hung is closed, as it is when a route comes back after a while."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        self._is_cut = False

    def close(self):
        self.mend()
        self._listener.close()


class Worker:
    """`eindb worker` with a data directory of its own; it can be started again on the same port."""

    def __init__(self, folder, behind_proxy=False, options=()):
        self.folder = folder
        self.options = options  # of the next start
        self._port = 0
        self.process = None
        self.proxy = None
        self.start()
        if behind_proxy:
            self.proxy = Proxy(self._port)

    @property
    def address(self):
        return f"127.0.0.1:{self.proxy.port if self.proxy else self._port}"

    def start(self):
        command = [EINDB, "worker", "--listen", f"127.0.0.1:{self._port}", "--data", self.folder,
                   "--log", f"{self.folder}.log", *self.options]  # fmt: skip
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._port = ready_port(self.process)

    def send_signal(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.send_signal(signal.SIGCONT)
            self.send_signal(number)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stdout.close()

    def restart(self):
        """After a SIGKILL: on the same port and directory."""
        self.process.wait(20)
        self.process.stdout.close()
        self.start()

    def log(self):
        with open(f"{self.folder}.log") as file:
            return file.read()

    def harm(self, how):
        """"kill", "stop" or "cut": off from everyone, without its knowledge."""
        if how == "kill":
            self.send_signal(signal.SIGKILL)
        elif how == "stop":
            self.send_signal(signal.SIGSTOP)
        else:
            self.proxy.cut()

    def heal(self, how):
        if how == "kill":
            self.restart()
        elif how == "stop":
            self.send_signal(signal.SIGCONT)
        else:
            self.proxy.mend()

    def _query(self, sql):
        return read_database(f"{self.folder}/shard.db", sql)

    def contents(self):
        """The name of the tensor that each of its tiles was written for."""
        return [name for (name,) in self._query("SELECT tensor FROM eindb_contents")]

    def open_transactions(self):
        return self._query("SELECT txn, prepared FROM eindb_open_transactions")

    def close(self):
        if self.process.poll() is None:
            self.end(signal.SIGKILL)
        if self.proxy:
            self.proxy.close()


class Cluster:
    """So many workers, and a server with a database that uses them."""

    def __init__(self, workers, behind_proxies=False, options=(), worker_options=()):
        self._folder = tempfile.TemporaryDirectory()
        self.files = os.path.join(self._folder.name, "files")
        os.mkdir(self.files)
        self._log = os.path.join(self._folder.name, "server.log")
        self.workers = []
        self.server = None
        self.options = options  # of the next start of the server
        try:
            for n in range(workers):
                folder = os.path.join(self._folder.name, f"w{n}")
                self.workers.append(Worker(folder, behind_proxies, worker_options))
            self.start_server()
        except BaseException:
            self.close()
            raise

    def start_server(self):
        addresses = ",".join(worker.address for worker in self.workers)
        command = [EINDB, "serve", os.path.join(self._folder.name, "s.db"), "--listen", "127.0.0.1:0",
                   "--workers", addresses, "--heartbeat", f"{HEARTBEAT_MS}ms", "--log", self._log,
                   "--files-dir", self.files, *self.options]  # fmt: skip
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = ready_port(self.server)

    def end_server(self, number=signal.SIGTERM):
        self.server.send_signal(number)
        status = self.server.wait(20)
        self.server.stdout.close()
        self.server = None
        return status

    def connect(self):
        return psycopg.connect(host="127.0.0.1", port=self.port, user="ada", dbname="s", autocommit=True)

    def log(self):
        with open(self._log) as file:
            return file.read()

    def statuses(self, connection):
        """The rows of SHOW WORKERS by address, each by column."""
        cursor = connection.execute("SHOW WORKERS")
        names = [column.name for column in cursor.description]
        rows = [dict(zip(names, row)) for row in cursor.fetchall()]
        return {row["address"]: row for row in rows}

    def states(self, connection):
        return {address: row["state"] for address, row in self.statuses(connection).items()}

    def wait_for_workers(self, connection):
        if not wait_until(lambda: set(self.states(connection).values()) == {"up"}):
            raise AssertionError(f"a worker does not come back: {self.statuses(connection)}")

    def query_file(self, sql):
        """Of the coordinator's file, past the server."""
        return read_database(f"{self._folder.name}/s.db", sql)

    def _contents_referred_to(self):
        contents = 0
        tensors = "SELECT name, replicas FROM eindb_tensors JOIN eindb_shardings USING (tensor_id)"
        for name, replicas in self.query_file(tensors):
            ((tiles,),) = self.query_file(f"SELECT COUNT(*) FROM eindb_tiles_{name}")
            contents += tiles * replicas
        return contents

    def unsettled(self):
        """What there is at the workers, if it is more or less than the coordinator's file refers to, and what is in the
        logs of transactions; empty: all have ended everywhere."""
        found = {}
        contents = [name for worker in self.workers for name in worker.contents()]
        if len(contents) != self._contents_referred_to():
            found["contents"] = {name: contents.count(name) for name in contents}
        for table in ("transactions", "participants", "garbage"):
            if rows := self.query_file(f"SELECT * FROM eindb_shard_{table}"):
                found[table] = rows
        for worker in self.workers:
            if transactions := worker.open_transactions():
                found[worker.address] = transactions
        return found

    def wait_until_settled(self):
        """What is unsettled when that is to be over."""
        wait_until(lambda: not self.unsettled(), SETTLED_SECONDS)
        return self.unsettled()

    def close(self):
        for worker in self.workers:
            worker.close()
        if self.server:
            self.end_server(signal.SIGKILL)
        self._folder.cleanup()
