#!/usr/bin/python3
"""alloc_server_test.py EINDB SHIM: a server in which the n-th allocation fails while a client logs in or runs a
statement.

The client gets its answer, or SQLSTATE 53200. That ends the statement, or the connection if there is no memory to
continue it. The server continues for all clients, and failed statements leave nothing behind. One server is used for
all n. EINDB_FAULTS=all tries every n; by default a sample is tried, with the seed EINDB_FAULTS_SEED.
"""

import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

import psycopg

from alloc_control import ALLOCATIONS, THREADS, Control, Tally, trials

SHIM = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else None
EINDB = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None
OUT_OF_MEMORY = "53200"
PATIENCE = 30
ALWAYS = 1 << 40  # calls, without an end

TEMPLATE = """
CREATE TENSOR A PARTITION (2, 2) AS EINSUM A[i 6, j 6] = i * 6 + j;
CREATE TENSOR B PARTITION (2, 2) AS EINSUM B[i 6, j 6] = (i + 1) / (j + 1);
CREATE TENSOR L PARTITION (2, 2) AS EINSUM L[i 80, j 80] = i - j;
CREATE TABLE t (name TEXT, n INTEGER);
INSERT INTO t VALUES ('a', 1), ('b', 2);
CREATE USER ada PASSWORD 'secret' ADMIN;
"""
LARGE = "EINSUM s[i] = MAX[k](SUM[j](L[i,j] * L[j,k]))"
SUM = "EINSUM s[] = SUM(A[i,j])"
TENSORS = "SELECT COUNT(*) FROM eindb_tensors"


class ServerProcess:
    """A server with the library, on a copy of the template database."""

    def __init__(self, control, template):
        self._folder = tempfile.TemporaryDirectory(prefix="eindb-alloc-")
        self._errors = tempfile.TemporaryFile()
        database = Path(self._folder.name) / "s.db"
        shutil.copy(template, database)
        certificate = ["--tls-cert", template.with_name("crt"), "--tls-key", template.with_name("key")]
        self.process = subprocess.Popen([EINDB, "serve", database, "--listen", "127.0.0.1:0", "--log-level", "off",
                                         "--http", "127.0.0.1:0", *certificate],
                                        stdout=subprocess.PIPE, stderr=self._errors, text=True,
                                        env=control.environment())  # fmt: skip
        self.port, self.http_port = self._read_port(), self._read_port()

    def _read_port(self):
        """The next port that the server prints, or None if it has ended."""
        words = self.process.stdout.readline().split()
        return int(words[-1]) if words else None

    @property
    def errors(self):
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def connect(self, sslmode="disable"):
        return psycopg.connect(host="127.0.0.1", port=self.port, user="ada", password="secret", dbname="s",
                               autocommit=True, prepare_threshold=None, connect_timeout=PATIENCE, sslmode=sslmode,
                               options="-c statement_timeout=20s")  # fmt: skip

    def end(self):
        """Ends the server. Returns its exit status, or None if it does not end."""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self._errors.close()
            self._folder.cleanup()


class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="eindb-alloc-")
        cls.template = Path(cls.folder.name) / "s.db"
        subprocess.run([EINDB, cls.template, "-c", TEMPLATE], check=True, timeout=240)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", "key", "-out", "crt", "-days", "2", "-subj", "/CN=127.0.0.1"],
                       check=True, cwd=cls.folder.name, capture_output=True)  # fmt: skip
        cls.control = Control(SHIM)
        cls.connection = None
        cls.server = ServerProcess(cls.control, cls.template)

    @classmethod
    def tearDownClass(cls):
        if cls.connection is not None:
            cls.connection.close()
        status = cls.server.end()
        cls.control.close()
        cls.folder.cleanup()
        assert status == 0, f"exit status {status}"

    def ask(self, statement):
        """The rows of a statement that runs without failing calls, on the connection of the class."""
        cls = type(self)
        if cls.connection is None or cls.connection.closed:
            cls.connection = cls.server.connect()
        cursor = cls.connection.execute(statement)
        return cursor.fetchall() if cursor.description else []

    @staticmethod
    def is_refusal(error):
        # An error that ends a connection before the login has no SQLSTATE in psycopg, and may be lost on the way.
        words = ["no memory left"]
        if str(error).startswith("connection failed"):
            words += ["server closed the connection unexpectedly", "Connection reset by peer", "SSL"]
        return error.sqlstate == OUT_OF_MEMORY or any(word in str(error) for word in words)

    def try_one(self, action, trial, kinds):
        """(result, calls, failed calls). The result is "done", "refused" or a description of a failure."""
        with self.control.failing(*trial, kinds):
            try:
                action()
                result = "done"
            except psycopg.Error as error:
                result = "refused" if self.is_refusal(error) else f"{error.sqlstate} {error!s}"
        return result, *self.control.counts

    def revive(self):
        """Starts the server again if it has ended. Returns a description of its end, or an empty text."""
        if self.server.process.poll() is None:
            return ""
        ended = f"the server has ended with {self.server.process.returncode}: {self.server.errors}"
        self.server.end()
        type(self).server = ServerProcess(self.control, self.template)
        return ended

    def enumerate(self, name, action, state, undo=None, kinds=ALLOCATIONS):
        """Tries an action with failing calls. `state` returns what is visible before and after it. `undo` is a
        statement that restores the state before."""
        for _ in range(2):  # the first run makes calls that later ones do not make
            before = state()
            self.assertEqual(self.try_one(action, (0, 1), kinds)[0], "done")
            after = state()
            if undo:
                self.ask(undo)
        calls = self.try_one(action, (0, 1), kinds)[1]
        if undo:
            self.ask(undo)
        tally = Tally(f"server: {name}")
        for trial in trials(calls):
            self.assertEqual(state(), before)
            result, _, failed = self.try_one(action, trial, kinds)
            problem = self.revive()
            found = state()
            if not problem and found != (after if result == "done" else before):
                problem = f"{result}, but {found}"
            if failed or result != "done":
                tally.add(trial, result, problem)
            if undo and found != before:
                self.ask(undo)
        tally.report(calls)
        self.assertGreater(calls, 0)
        self.assertEqual(tally.problems, [])

    def run_statement(self, statement, wanted=None):
        def action():
            rows = self.ask(statement)
            if wanted is not None and sorted(rows) != wanted:
                raise AssertionError(f"{statement}: {rows}")

        return action

    def test_login(self):
        self.enumerate("login", lambda: self.server.connect().close(), lambda: self.ask("SELECT 1"))

    def test_login_with_tls(self):
        self.enumerate("login with TLS", lambda: self.server.connect(sslmode="require").close(),
                       lambda: self.ask("SELECT 1"))  # fmt: skip

    def test_select(self):
        statement = "SELECT t.name, a.i, SUM(a.val) FROM t JOIN A a ON a.i = t.n GROUP BY 1, 2 ORDER BY 1"
        wanted = sorted(self.ask(statement))
        self.enumerate("select", self.run_statement(statement, wanted), lambda: self.ask(TENSORS))

    def get_metrics(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.server.http_port}/metrics", timeout=PATIENCE) as page:
                return "done" if b"eindb_" in page.read() else "another page"
        except (OSError, http.client.HTTPException) as error:
            return "hung" if "timed out" in str(error) else "refused"

    def test_metrics(self):
        for _ in range(3):
            with self.control.failing(0):
                self.assertEqual(self.get_metrics(), "done")
        calls = self.control.counts[0]
        tally = Tally("server: metrics")
        for trial in trials(calls):
            with self.control.failing(*trial):
                result = self.get_metrics()
            problem = self.revive()
            if not problem and (after := self.get_metrics()) != "done":
                problem = f"{result}, and then {after}"
            if self.control.counts[1]:
                tally.add(trial, result, problem)
        tally.report(calls)
        self.assertGreater(calls, 0)
        self.assertEqual(tally.problems, [])

    def test_parameters(self):
        """The extended protocol works with failing allocations, for a statement that the server keeps."""

        def action():
            self.ask("SELECT 1")  # opens a connection if there is none
            rows = self.connection.execute("SELECT name, n + %s FROM t WHERE n < %s", (5, 3), prepare=True).fetchall()
            if sorted(rows) != [("a", 6), ("b", 7)]:
                raise AssertionError(rows)

        self.enumerate("parameters", action, lambda: self.ask(TENSORS))

    def test_copy_to_client(self):
        def action():
            self.ask("SELECT 1")
            with self.connection.cursor() as cursor, cursor.copy("COPY A TO STDOUT (FORMAT csv)") as copy:
                lines = b"".join(copy).decode().splitlines()
            if len(lines) not in (36, 37):
                raise AssertionError(lines)

        self.enumerate("copy to client", action, lambda: self.ask(TENSORS))

    def test_copy_from_client(self):
        def action():
            self.ask("SELECT 1")
            with self.connection.cursor() as cursor, cursor.copy("COPY t (name, n) FROM STDIN (FORMAT csv)") as copy:
                for n in range(20):
                    copy.write(f"x,{n + 11}\n".encode())

        self.enumerate("copy from client", action, lambda: self.ask("SELECT COUNT(*) FROM t"),
                       "DELETE FROM t WHERE n > 10")  # fmt: skip

    def test_einsum(self):
        statement = "EINSUM s[i] = SUM(A[i,j] * B[j,i]) + MAX[j](A[i,j])"
        wanted = sorted(self.ask(statement))
        self.enumerate("einsum", self.run_statement(statement, wanted), lambda: self.ask(TENSORS))

    def test_create_tensor_as(self):
        self.enumerate("create tensor as",
                       self.run_statement("CREATE TENSOR N AS EINSUM N[i,k] = SUM(A[i,j] * B[j,k]) + 1"),
                       lambda: self.ask(TENSORS), "DROP TENSOR N")  # fmt: skip

    def test_update(self):
        self.enumerate("update", self.run_statement("UPDATE TENSOR A[i,j] = A[i,j] + 1"), lambda: self.ask(SUM),
                       "UPDATE TENSOR A[i,j] = A[i,j] - 1")  # fmt: skip

    def test_insert(self):
        self.enumerate("insert", self.run_statement("INSERT INTO t SELECT name || 'x', n + 10 FROM t"),
                       lambda: self.ask("SELECT COUNT(*) FROM t"), "DELETE FROM t WHERE n > 10")  # fmt: skip

    def test_create_user(self):
        self.enumerate("create user", self.run_statement("CREATE USER eve PASSWORD 'x' READ ONLY"),
                       lambda: self.ask("SHOW USERS"), "DROP USER eve")  # fmt: skip

    def use_fresh_server(self, action):
        """Starts a server, runs `action` on it, and returns the result."""
        server = ServerProcess(self.control, self.template)
        try:
            if server.http_port is None:
                status = server.process.wait(PATIENCE)
                is_clear = "cannot start a thread" in server.errors and "hint: " in server.errors
                result = "refused" if status == 1 and is_clear else f"ends with {status}: {server.errors}"
            else:
                result = action(server)
        except psycopg.Error as error:
            result = "refused" if self.is_refusal(error) else f"{error.sqlstate} {error!s}"
        ended = server.process.poll()
        if ended is not None and server.http_port is not None:
            result = f"{result}, the server has ended with {ended}: {server.errors}"
        status = server.end()
        return result if status in (0, 1) else f"{result}, ends with {status}"

    def test_threads(self):
        """Any thread may fail to start: those of the server, of logins, or of a statement with one per processor."""
        wanted = sorted(self.ask(LARGE))

        def action(server):
            with server.connect() as connection:
                found = connection.execute(LARGE).fetchall()
            return "done" if sorted(found) == wanted else f"another result: {found}"

        with self.control.failing(0, 1, THREADS):
            self.assertEqual(self.use_fresh_server(action), "done")
        calls = self.control.counts[0]
        tally = Tally("server: start, login and statement, threads")
        for first, number in trials(calls):
            with self.control.failing(first, min(number, ALWAYS), THREADS):
                result = self.use_fresh_server(action)
            if self.control.counts[1]:
                tally.add((first, number), result)
        tally.report(calls)
        self.assertGreater(calls, 4)
        self.assertEqual(tally.problems, [])

    def test_first_login_with_tls(self):
        """OpenSSL's allocations for the first connection fail, each in a fresh server."""

        def use(first, number):
            def action(server):
                with self.control.failing(first, number):
                    server.connect(sslmode="require").close()
                return "done"

            return self.use_fresh_server(action)

        self.assertEqual(use(0, 1), "done")
        calls = self.control.counts[0]
        tally = Tally("server: first login with TLS")
        for trial in trials(calls):
            result = use(*trial)
            if self.control.counts[1]:
                tally.add(trial, result)
        tally.report(calls)
        self.assertEqual(tally.problems, [])


if __name__ == "__main__":
    unittest.main()
