"""A server to test: `eindb serve` on its own port. The program is the first argument of the tests' command."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import psycopg

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from waiting import HANG_SECONDS, wait_until  # noqa: E402

EINDB = sys.argv.pop(1)
TENSORS = """
CREATE TENSOR X AS EINSUM X[i 3, j 4] = CAST(i * 4 + j AS FLOAT32) / 2;
CREATE TENSOR C AS EINSUM C[i 2] = COMPLEX(i, 1);
CREATE TABLE t (name TEXT, n INTEGER);
INSERT INTO t VALUES ('a', 1), ('b', 2);
"""


class Server:
    """`eindb serve` on its own port, with a database that `script` creates."""

    def __init__(self, script=TENSORS, options=()):
        self.folder = tempfile.TemporaryDirectory()
        self.database = os.path.join(self.folder.name, "s.db")
        subprocess.run([EINDB, self.database], input=script, text=True, check=True, stdout=subprocess.DEVNULL)
        command = [EINDB, "serve", self.database, "--listen", "127.0.0.1:0", *options]
        if not any(option.startswith("--log") for option in options):
            command += ["--log-level", "warning"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split()[-1])

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(HANG_SECONDS)
        self.process.stdout.close()
        self.folder.cleanup()
        assert status == 0, f"exit status {status}"

    def arguments(self, **more):
        return {"host": "127.0.0.1", "port": self.port, "user": "ada", "dbname": "s", **more}

    def wait_for_state(self, sessions, state="active", **arguments):
        """Waits until another session sees all of these sessions in the state."""
        with psycopg.connect(**self.arguments(**arguments), autocommit=True) as watcher:
            def states():
                rows = watcher.execute("SELECT pid, state FROM pg_stat_activity").fetchall()
                return {int(pid): found for pid, found in rows}

            if not wait_until(lambda: all(states().get(session) == state for session in sessions)):
                raise AssertionError(f"sessions {sessions} are not {state}: {states()}")

    def psql(self, *arguments, text="", **environment):
        return subprocess.run(
            ["psql", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", str(self.port), "-U", "ada", "-d", "s", *arguments],
            input=text, text=True, capture_output=True, timeout=HANG_SECONDS, env={**os.environ, **environment},
        )  # fmt: skip

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=HANG_SECONDS)


class WithServer(unittest.TestCase):
    server_class = Server
    script = TENSORS
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = cls.server_class(cls.script, cls.options)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
