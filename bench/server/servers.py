"""The servers. Each is a process, or a tree of processes, with its own port and the same data."""

import glob
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time

USER = "ada"
DATABASE = "bench"
TICKS = os.sysconf("SC_CLK_TCK")

# The data of both servers: 10,000 rows for lookups, 8 x 8 and 1000 x 1000 values, and 100 MB.
KEYS = 10000
SMALL = 8
ROWS = 1000
ARRAY = (5000, 2500)


def postgres_programs():
    """The folder of the newest PostgreSQL that is installed, or None."""
    folders = glob.glob("/usr/lib/postgresql/*/bin")
    return max(folders, key=lambda folder: int(re.search(r"/(\d+)/", folder)[1]), default=None)


def stat_of(pid):
    """The fields of /proc/PID/stat behind the name, or None if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def pss_of(pid):
    """The proportional set size of a process in bytes: shared pages are divided among their processes."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


class Server:
    """A server of either kind. `process` is the started process, `port` is where it listens."""

    name = ""
    process = None
    port = 0
    stop_signal = signal.SIGTERM

    def pids(self):
        return [self.process.pid]

    def cpu_seconds(self):
        """The CPU time of all its processes, including those that have ended."""
        own = [stat for pid in self.pids() if (stat := stat_of(pid))]
        ended = stat_of(self.process.pid)
        return (sum(int(stat[11]) + int(stat[12]) for stat in own) + int(ended[13]) + int(ended[14])) / TICKS

    def memory_bytes(self):
        return sum(pss_of(pid) for pid in self.pids())

    def close(self):
        self.process.send_signal(self.stop_signal)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def pinned(cores):
    """A function for preexec_fn that pins a process to these cores."""
    return lambda: os.sched_setaffinity(0, cores)


class Eindb(Server):
    name = "eindb"
    SCRIPT = f"""
        CREATE TABLE t (n INTEGER PRIMARY KEY, name TEXT);
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < {KEYS})
        INSERT INTO t SELECT x, 'name ' || x FROM c;
        CREATE TENSOR X FLOAT64 AS EINSUM X[i {SMALL}, j {SMALL}] = i * {SMALL} + j;
        CREATE TENSOR R FLOAT64 AS EINSUM R[i {ROWS}, j {ROWS}] = RANDOM(1);
        CREATE TENSOR F FLOAT64 AS EINSUM F[i {ARRAY[0]}, j {ARRAY[1]}] = RANDOM(2);
    """

    def __init__(self, build, folder, cores):
        program = os.path.join(build, "eindb")
        database = os.path.join(folder, "bench.db")
        if not os.path.exists(database):
            subprocess.run([program, database], input=self.SCRIPT, text=True, check=True, stdout=subprocess.DEVNULL)
        command = [program, "serve", database, "--listen", "127.0.0.1:0", "--log-level", "warning"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=pinned(cores))
        self.port = int(self.process.stdout.readline().split()[-1])


def unprivileged():
    """The user postgres of Debian's package if this process is root, as which PostgreSQL does not run, or None."""
    return pwd.getpwnam("postgres") if os.geteuid() == 0 else None


class Postgres(Server):
    """A fresh cluster of PostgreSQL. Its settings are the defaults, except the number of connections."""

    name = "postgres"
    stop_signal = signal.SIGINT  # a fast shutdown, which does not wait for clients
    SCRIPT = f"""
        CREATE TABLE t (n INT8 PRIMARY KEY, name TEXT);
        INSERT INTO t SELECT x, 'name ' || x FROM generate_series(1, {KEYS}) AS x;
        CREATE TABLE x (i INT8, j INT8, val FLOAT8, PRIMARY KEY (i, j));
        INSERT INTO x SELECT i, j, i * {SMALL} + j FROM generate_series(0, {SMALL - 1}) AS i, generate_series(0, {SMALL - 1}) AS j;
        CREATE TABLE r (i INT8, j INT8, val FLOAT8);
        INSERT INTO r SELECT i, j, random() FROM generate_series(0, {ROWS - 1}) AS i, generate_series(0, {ROWS - 1}) AS j;
        CREATE TABLE f (bytes BYTEA, numbers FLOAT8[]);
        ALTER TABLE f ALTER bytes SET STORAGE EXTERNAL, ALTER numbers SET STORAGE EXTERNAL;
        INSERT INTO f SELECT convert_to(repeat('12345678', {ARRAY[0] * ARRAY[1]}), 'UTF8'), array_agg(random())
            FROM generate_series(1, {ARRAY[0] * ARRAY[1]});
        VACUUM ANALYZE;
    """

    def __init__(self, folder, cores, connections):
        self._programs = postgres_programs()
        self._user = unprivileged()
        data = os.path.join(folder, "postgres")
        is_new = not os.path.exists(data)
        if is_new:
            os.mkdir(data)
            if self._user:
                os.chown(data, self._user.pw_uid, self._user.pw_gid)
                os.chmod(folder, 0o755)
            self._run("initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        settings = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "",
                    "max_connections": connections}  # fmt: skip
        command = [os.path.join(self._programs, "postgres"), "-D", data]
        command += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pinned(cores), **self._as_user()
        )
        self._wait()
        if is_new:
            self._psql("postgres", f"CREATE DATABASE {DATABASE}")
            self._psql(DATABASE, self.SCRIPT)

    def _as_user(self):
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "cwd": "/"} if self._user else {}

    def _run(self, program, *arguments):
        done = subprocess.run(
            [os.path.join(self._programs, program), *arguments], capture_output=True, text=True, **self._as_user()
        )
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stderr}")

    def _psql(self, database, text):
        command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER]
        subprocess.run([*command, "-d", database], input=text, text=True, check=True, stdout=subprocess.DEVNULL)

    def _wait(self):
        ready = [shutil.which("pg_isready") or os.path.join(self._programs, "pg_isready"), "-q", "-h", "127.0.0.1"]
        end = time.monotonic() + 60
        while subprocess.run([*ready, "-p", str(self.port), "-U", USER, "-d", "postgres"]).returncode != 0:
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("PostgreSQL does not start")
            time.sleep(0.1)

    def pids(self):
        parent = str(self.process.pid)
        processes = {int(name): stat for name in os.listdir("/proc") if name.isdigit() and (stat := stat_of(name))}
        return [self.process.pid, *(pid for pid, stat in processes.items() if stat[1] == parent)]
