"""A cluster to test: `eindb worker` processes and an `eindb serve` that uses them, all on loopback.

The program is the first argument of the tests' command.
"""

import contextlib
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

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from waiting import HANG_SECONDS, wait_until  # noqa: E402

EINDB = os.path.abspath(sys.argv.pop(1))
# A node that is silent for three heartbeats counts as lost. Other load does not keep a process silent that long.
HEARTBEAT_MS = 1000

# The secret that all nodes of these tests share, unless their options say how they authenticate each other.
_SECRETS = tempfile.TemporaryDirectory()
SECRET_FILE = os.path.join(_SECRETS.name, "secret")
with open(SECRET_FILE, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as _secret:
    _secret.write("a secret of the tests' nodes\n")
_TRUST = {"--secret-file", "--insecure", "--tls-cert", "--cluster-tls-cert"}


def trusting(options):
    """The options of a node, with the secret unless they contain another kind of authentication."""
    return [*options] if _TRUST & set(options) else [*options, "--secret-file", SECRET_FILE]


def ready_port(process, seconds=HANG_SECONDS):
    """The port on which a program listens, from the end of its first line."""
    if not select.select([process.stdout], [], [], seconds)[0]:
        raise TimeoutError("the program does not say that it listens")
    return int(process.stdout.readline().rsplit(":", 1)[-1].split()[-1])


def read_database(path, sql):
    file = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=HANG_SECONDS)
    try:
        return file.execute(sql).fetchall()
    finally:
        file.close()


class Proxy:
    """A proxy between a worker and all other nodes. It cuts the network of the worker, which is not notified."""

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
                worker = socket.create_connection(("127.0.0.1", self._target), timeout=HANG_SECONDS)
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

    def _holds(self, source, passed):
        """Whether data from `source` is held back without notice. `passed` bytes of it have been forwarded."""
        return self._is_cut

    def _forward(self, source, target):
        passed = 0
        try:
            while data := source.recv(1 << 18):
                while self._holds(source, passed):
                    time.sleep(0.01)
                passed += len(data)
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
        """Ends the cut, and closes the connections that hung, as if the route had come back late."""
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
    """An `eindb worker` with its own data directory. It can be started again on the same port."""

    def __init__(self, folder, behind_proxy=None, options=()):
        """`behind_proxy` is the class of the worker's proxy, if it has one."""
        self.folder = folder
        self.options = options  # those of the next start
        self.environment = {}  # that of the next start
        self._port = 0
        self.process = None
        self.proxy = None
        self.start()
        if behind_proxy:
            self.proxy = behind_proxy(self._port)

    @property
    def address(self):
        return f"127.0.0.1:{self.proxy.port if self.proxy else self._port}"

    def start(self):
        command = [EINDB, "worker", "--listen", f"127.0.0.1:{self._port}", "--data", self.folder,
                   "--log", f"{self.folder}.log", *trusting(self.options)]  # fmt: skip
        environment = os.environ | self.environment
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self._port = ready_port(self.process)

    def send_signal(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.send_signal(signal.SIGCONT)
            self.send_signal(number)
        try:
            return self.process.wait(HANG_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stdout.close()

    def restart(self):
        """Starts the worker again after a SIGKILL, on the same port and directory."""
        self.process.wait(HANG_SECONDS)
        self.process.stdout.close()
        self.start()

    def log(self):
        with open(f"{self.folder}.log") as file:
            return file.read()

    def harm(self, how):
        """Harms the worker by "kill", "stop" or "cut", which cuts it off from all nodes without notice."""
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
        """The name of the tensor of each stored tile."""
        return [name for (name,) in self._query("SELECT tensor FROM eindb_contents")]

    def open_transactions(self):
        return self._query("SELECT txn, prepared FROM eindb_open_transactions")

    def close(self):
        if self.process.poll() is None:
            self.end(signal.SIGKILL)
        if self.proxy:
            self.proxy.close()


class Cluster:
    """A number of workers, and a server with a database that uses them."""

    heartbeat_ms = HEARTBEAT_MS

    def __init__(self, workers, behind_proxies=None, options=(), worker_options=(), folder=None):
        """`behind_proxies` is the class of the workers' proxies, if any. `folder` is by default a temporary one."""
        self._folder = tempfile.TemporaryDirectory(dir=folder)
        self.folder = folder = folder or self._folder.name
        self.database = os.path.join(folder, "s.db")
        self.files = os.path.join(folder, "files")
        os.mkdir(self.files)
        self._log = os.path.join(folder, "server.log")
        self.workers = []
        self.server = None
        self.options = options  # those of the next start of the server
        try:
            for n in range(workers):
                self.workers.append(Worker(os.path.join(folder, f"w{n}"), behind_proxies, worker_options))
            self.start_server()
        except BaseException:
            self.close()
            raise

    @property
    def shell_options(self):
        """The options of a shell that uses the same workers. There are none without workers."""
        if not self.workers:
            return []
        addresses = ",".join(worker.address for worker in self.workers)
        return ["--workers", addresses, *trusting(self.options)[len(self.options):]]

    def start_server(self):
        command = [EINDB, "serve", self.database, "--listen", "127.0.0.1:0", *self.shell_options,
                   "--log", self._log, "--files-dir", self.files, *self.options]  # fmt: skip
        if self.workers:
            command += ["--heartbeat", f"{self.heartbeat_ms}ms"]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = ready_port(self.server)

    def end_server(self, number=signal.SIGTERM):
        self.server.send_signal(number)
        status = self.server.wait(HANG_SECONDS)
        self.server.stdout.close()
        self.server = None
        return status

    def connect(self):
        # Statements that are too small for workers run there nevertheless, where faults happen.
        return psycopg.connect(host="127.0.0.1", port=self.port, user="ada", dbname="s", autocommit=True,
                               options="-c small_statements=workers")  # fmt: skip

    def log(self):
        with open(self._log) as file:
            return file.read()

    def statuses(self, connection):
        """The rows of SHOW WORKERS as dicts, by address."""
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
        """The rows of a query on the coordinator's file, without the server."""
        return read_database(self.database, sql)

    @contextlib.contextmanager
    def reading_a_state(self):
        """Until the end of the block a connection outside of the server has a read transaction on the file."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM eindb_tensors").fetchall()
            yield

    def _contents_referred_to(self):
        contents = 0
        tensors = "SELECT name, replicas FROM eindb_tensors JOIN eindb_shardings USING (tensor_id)"
        for name, replicas in self.query_file(tensors):
            ((tiles,),) = self.query_file(f"SELECT COUNT(*) FROM eindb_tiles_{name}")
            contents += tiles * replicas
        return contents

    def unsettled(self):
        """The contents of workers if their number differs from that in the coordinator's file, and the rows in the logs
        of transactions. It is empty if all transactions have ended everywhere."""
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
        """Waits until nothing is unsettled. Returns the rest if that takes too long."""
        looks = []

        def is_settled():
            looks.append(self.unsettled())
            return not looks[-1]

        wait_until(is_settled)
        return looks[-1]

    def close(self):
        for worker in self.workers:
            worker.close()
        if self.server:
            self.end_server(signal.SIGKILL)
        self._folder.cleanup()
