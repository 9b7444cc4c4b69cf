"""Tests how people and programs monitor the server: HTTP, the log, SHOW SESSIONS, KILL and pg_stat_activity.

    operation_test.py EINDB
"""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import psycopg
from prometheus_client.parser import text_string_to_metric_families

from served import EINDB, TENSORS, Server, WithServer
from waiting import HANG_SECONDS, wait_until

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"
USERS = "CREATE USER ada PASSWORD 'one' ADMIN; CREATE USER bob PASSWORD 'two' READ ONLY;"


class WatchedServer(Server):
    """A server with HTTP and a log file in JSON."""

    def __init__(self, script=TENSORS, options=()):
        self.logs = tempfile.TemporaryDirectory()
        self.log = os.path.join(self.logs.name, "log")
        super().__init__(script, ("--http", "127.0.0.1:0", "--log", self.log, "--log-format", "json", *options))
        self.http_port = int(self.process.stdout.readline().split()[-1])

    def close(self):
        super().close()
        self.logs.cleanup()

    def get(self, path, method="GET"):
        """(status, headers, body) of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=HANG_SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()

    def metrics(self):
        """The metrics by name and labels, as parsed by Prometheus's own client."""
        families = list(text_string_to_metric_families(self.get("/metrics")[2]))
        return {
            (sample.name, *sorted(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples
        }

    def metric(self, name, **labels):
        return self.metrics()[(name, *sorted(labels.items()))]

    def events(self):
        with open(self.log, encoding="ascii") as lines:
            # The last line may be incomplete.
            return [json.loads(line) for line in lines if line.endswith("\n")]

    def wait_for_event(self, name, **fields):
        """Waits for the first event with this name and these fields."""
        def found():
            return [event for event in self.events() if event["event"] == name and fields.items() <= event.items()]

        if not wait_until(found):
            raise AssertionError(f"no event {name} {fields} in {self.events()}")
        return found()[0]

    def raw(self, request, linger=True):
        """Sends the bytes `request`. With `linger` it returns all that is received until the connection ends."""
        with socket.create_connection(("127.0.0.1", self.http_port), timeout=HANG_SECONDS) as connection:
            answer = b""
            with contextlib.suppress(OSError):  # the server may close the connection before it has read everything
                connection.sendall(request)
                if linger:
                    connection.shutdown(socket.SHUT_WR)
                while linger and (piece := connection.recv(65536)):
                    answer += piece
            return answer


class Watched(WithServer):
    server_class = WatchedServer

    def connect(self, **arguments):
        connection = psycopg.connect(**self.server.arguments(**arguments), autocommit=True)
        self.addCleanup(connection.close)
        return connection

    def run_endlessly(self, **arguments):
        """Runs an endless statement. Returns its connection, its thread, and a list to which its error is added."""
        connection = self.connect(**arguments)
        outcome = []

        def run():
            try:
                connection.execute(ENDLESS)
            except psycopg.Error as error:
                outcome.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return connection, thread, outcome

    def wait_for_state(self, watcher, session, state):
        def found():
            return watcher.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", (session,)).fetchone()

        if not wait_until(lambda: found() == (state,)):
            raise AssertionError(f"session {session} is not {state} but {found()}")


class Http(Watched):
    def test_health(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.server.http_port}/health", timeout=HANG_SECONDS) as answer:
            self.assertEqual((answer.status, answer.read()), (200, b"ok\n"))

    def test_metrics_have_their_type(self):
        status, headers, text = self.server.get("/metrics")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(int(headers["Content-Length"]), len(text))
        for family in text_string_to_metric_families(text):
            self.assertTrue(family.name.startswith("eindb_"), family)
            self.assertTrue(family.documentation)
            self.assertIn(family.type, ("counter", "gauge", "histogram"), family)

    def test_metrics_count_what_happens(self):
        def count(outcome, kind="select"):
            return self.server.metric("eindb_statements_total", kind=kind, outcome=outcome)

        before = self.server.metrics()
        ok, failed = count("ok"), count("error")
        connection = self.connect()
        connection.execute("SELECT * FROM t")
        connection.execute("EINSUM Z[i] = SUM(X[i,j])")
        with self.assertRaises(psycopg.Error):
            connection.execute("SELECT nope")
        self.assertEqual((count("ok") - ok, count("error") - failed), (1, 1))
        after = self.server.metrics()
        change = {key: value - before.get(key, 0) for key, value in after.items()}
        self.assertEqual(change[("eindb_connections_accepted_total",)], 1)
        self.assertEqual(change[("eindb_rows_sent_total",)], 5)
        self.assertEqual(change[("eindb_errors_total", ("class", "42"))], 1)
        self.assertEqual(change[("eindb_statement_seconds_count",)], 3)
        self.assertGreater(change[("eindb_sent_bytes_total",)], 50)
        self.assertGreater(change[("eindb_received_bytes_total",)], 50)
        self.assertGreater(after[("eindb_database_bytes",)], 4096)
        self.assertGreater(after[("eindb_memory_limit_bytes",)], 1 << 20)
        self.assertLess(abs(after[("eindb_start_time_seconds",)] - time.time()), 600)
        self.assertEqual(after[("eindb_build_info", ("version", self.version()))], 1)

    def version(self):
        return subprocess.run([EINDB, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]

    def test_buckets_add_up(self):
        self.connect().execute("SELECT 1")
        text = self.server.get("/metrics")[2]
        buckets = [float(n) for n in re.findall(r"^eindb_statement_seconds_bucket\{.*\} (\S+)$", text, re.MULTILINE)]
        self.assertEqual(buckets, sorted(buckets))
        count = re.search(r"^eindb_statement_seconds_count (\S+)$", text, re.MULTILINE)[1]
        self.assertEqual(buckets[-1], float(count))

    def test_busy_sessions_are_active(self):
        connection, thread, _ = self.run_endlessly()
        watcher = self.connect()
        self.wait_for_state(watcher, connection.info.backend_pid, "active")
        # Sessions of other tests may still be open.
        self.assertTrue(wait_until(lambda: self.server.metric("eindb_connections_active") == 1))
        self.assertTrue(wait_until(lambda: self.server.metric("eindb_connections_open") == 2))
        connection.cancel()
        thread.join(HANG_SECONDS)
        self.assertTrue(wait_until(lambda: self.server.metric("eindb_connections_active") == 0))
        self.assertGreaterEqual(
            self.server.metric("eindb_statements_total", kind="select", outcome="cancelled"), 1
        )

    def test_pages_answer_while_all_workers_are_busy(self):
        server = WatchedServer(options=("--statement-threads", "1"))
        try:
            connection = psycopg.connect(**server.arguments(), autocommit=True)
            thread = threading.Thread(target=lambda: self.assertRaises(psycopg.Error, connection.execute, ENDLESS))
            thread.start()
            self.assertTrue(wait_until(lambda: server.metric("eindb_connections_active") == 1))
            self.assertEqual(server.get("/health")[0], 200)
            connection.cancel()
            thread.join(HANG_SECONDS)
            connection.close()
        finally:
            server.close()

    def test_head_has_no_body(self):
        status, headers, body = self.server.get("/health", "HEAD")
        self.assertEqual((status, headers["Content-Length"], body), (200, "3", ""))

    def test_other_paths_and_methods(self):
        self.assertEqual(self.server.get("/nothing")[0], 404)
        self.assertEqual(self.server.get("/health/..")[0], 404)
        self.assertEqual(self.server.get("/health?verbose=1")[0], 200)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            status, headers, _ = self.server.get("/health", method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)

    def test_a_connection_brings_several_requests(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.http_port, timeout=HANG_SECONDS)
        with contextlib.closing(connection):
            for path, status in (("/health", 200), ("/nothing", 404), ("/metrics", 200), ("/health", 200)):
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                self.assertEqual(answer.status, status)

    def test_several_requests_at_once(self):
        answer = self.server.raw(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        self.assertEqual(answer.count(b"200 OK"), 3)

    def test_old_clients(self):
        answer = self.server.raw(b"GET /health HTTP/1.0\r\n\r\n")
        self.assertTrue(answer.endswith(b"\r\n\r\nok\n"), answer)
        self.assertIn(b"Connection: close", answer)

    def test_hostile_bytes(self):
        for request, status in (
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(200), b"400"),
            (b"\x00" * 1000, b"400"),
            (b"GET\r\n\r\n", b"400"),
            (b"GET /health HTTP/9.9\r\n\r\n", b"400"),
            (b"GET /health HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
            (b"GET /health HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", b"400"),
            (b"GET /health HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n", b"413"),
            (b"GET /health HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", b"400"),
            (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n", b"431"),
            (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n", b"431"),
            (b"GET /\x1b[2J HTTP/1.1\r\n\r\n", b"400"),
            (b"GET /%00/../../etc/passwd HTTP/1.1\r\n\r\n", b"404"),
            (b"POST /health HTTP/1.1\r\nContent-Length: 500000\r\n\r\n" + b"x" * 5000, b"405"),
            (b"GET /health HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", b"200"),
        ):
            answer = self.server.raw(request)
            self.assertEqual(answer[:13], b"HTTP/1.1 " + status + b" ", (request[:80], answer[:200]))
        for request in (b"", b"G", b"GET /" + b"a" * 10_000_000, b"GET /health HTTP/1.1\r\nHost", b"\r\n"):
            self.server.raw(request)
            self.server.raw(request, linger=False)
        self.assertEqual(self.server.get("/health")[0], 200)

    def test_slow_and_many_connections_keep_nobody_out(self):
        descriptors = len(os.listdir(f"/proc/{self.server.process.pid}/fd"))
        with contextlib.ExitStack() as connections:
            for _ in range(100):
                connection = socket.create_connection(("127.0.0.1", self.server.http_port), timeout=HANG_SECONDS)
                connections.enter_context(connection)
                with contextlib.suppress(OSError):
                    connection.sendall(b"GET /health HTTP/1.1\r\n")
            self.assertTrue(wait_until(
                lambda: len(os.listdir(f"/proc/{self.server.process.pid}/fd")) < descriptors + 40))  # fmt: skip

        def is_answered():
            with contextlib.suppress(OSError, http.client.HTTPException):
                return self.server.get("/health")[0] == 200
            return False

        self.assertTrue(wait_until(is_answered))

    def test_a_request_that_does_not_end_is_ended(self):
        with socket.create_connection(("127.0.0.1", self.server.http_port), timeout=HANG_SECONDS) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\n")
            with contextlib.suppress(ConnectionResetError):
                self.assertEqual(connection.recv(100), b"")

    def test_addresses_of_the_network_are_asked_for(self):
        command = [EINDB, "serve", self.server.database, "--listen", "127.0.0.1:0", "--http", "0.0.0.0:0"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("HTTP asks for no password, and 0.0.0.0:0 can be reached from other machines", ran.stderr)
        self.assertIn("--http-allow-remote", ran.stderr)
        with subprocess.Popen([*command, "--http-allow-remote"], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.DEVNULL) as server:  # fmt: skip
            server.stdout.readline()
            self.assertIn("http on port", server.stdout.readline())
            server.send_signal(signal.SIGTERM)
        self.assertEqual(server.returncode, 0)


class ShuttingDown(unittest.TestCase):
    def test_health_says_so_while_a_statement_has_its_grace(self):
        server = WatchedServer(options=("--shutdown-grace", "1h"))
        connection = psycopg.connect(**server.arguments(), autocommit=True)
        thread = threading.Thread(target=lambda: self.assertRaises(psycopg.Error, connection.execute, ENDLESS))
        thread.start()
        while server.metric("eindb_connections_active") == 0:
            time.sleep(0.02)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for_event("shutting down", connections=1)
        status, _, body = server.get("/health")
        self.assertEqual((status, body), (503, "shutting down\n"))
        self.assertEqual(server.get("/metrics")[0], 200)
        server.process.send_signal(signal.SIGTERM)  # this cancels running statements
        self.assertEqual(server.process.wait(HANG_SECONDS), 0)
        thread.join(HANG_SECONDS)
        connection.close()
        self.assertEqual(server.events()[-1]["event"], "stopped")
        server.close()


class Log(Watched):
    script = TENSORS + USERS
    options = ("--log-statements", "all", "--log-level", "debug")

    def arguments(self, user="ada", password="one", **more):
        return {"user": user, "password": password, **more}

    def test_a_connection(self):
        connection = self.connect(**self.arguments(application_name="tester"))
        connection.execute("SELECT * FROM t")
        with self.assertRaises(psycopg.Error):
            connection.execute("SELECT nope FROM t")
        session = connection.info.backend_pid
        connection.close()
        closed = self.server.wait_for_event("connection closed", session=session)
        self.assertEqual(closed["user"], "ada")
        self.assertGreater(closed["sent"], 100)
        events = [event for event in self.server.events() if event.get("session") == session]
        names = [event["event"] for event in events]
        self.assertEqual(names, ["connection opened", "login", "statement", "statement failed", "connection closed"])
        login, statement, failed = events[1:4]
        self.assertEqual((login["database"], login["application_name"]), ("s", "tester"))
        self.assertRegex(login["address"], r"^127\.0\.0\.1:\d+$")
        self.assertRegex(login["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertEqual((statement["statement"], statement["rows"]), ("SELECT * FROM t", 2))
        self.assertGreaterEqual(statement["seconds"], 0)
        self.assertEqual(failed["sqlstate"], "42703")
        self.assertIn("nope", failed["message"])

    def test_wrong_passwords(self):
        for arguments in ({"password": "wr0ng"}, {"user": "mallory", "password": "wr0ng"}):
            with self.assertRaises(psycopg.OperationalError):
                self.connect(**self.arguments(**arguments))
        known = self.server.wait_for_event("login refused", user="ada")
        unknown = self.server.wait_for_event("login refused", user="mallory")
        self.assertEqual((known["level"], known["reason"]), ("warning", "wrong password"))
        self.assertEqual(unknown["reason"], "unknown user")
        self.assertGreaterEqual(self.server.metric("eindb_logins_refused_total"), 2)

    def test_passwords_are_not_logged(self):
        connection = self.connect(**self.arguments())
        session = connection.info.backend_pid
        connection.execute("CREATE USER carol PASSWORD 's3cret'")
        connection.execute("ALTER USER carol PASSWORD 's3cret too'")
        with self.assertRaises(psycopg.Error):
            connection.execute("CREATE USER dave PASSWORD 's3cret' NONSENSE")
        connection.close()
        self.server.wait_for_event("connection closed", session=session)
        with open(self.server.log, encoding="ascii") as log:
            self.assertNotIn("s3cret", log.read())

    def test_clients_write_no_lines(self):
        name = 'x"}\n{"event":"login","user":"root"\x1b[2J'
        connection = self.connect(**self.arguments(application_name=name))
        connection.execute("SELECT 'line\n{}', %s", ("parameter",))
        login = self.server.wait_for_event("login", session=connection.info.backend_pid)
        self.assertEqual(login["application_name"], name)
        self.assertFalse([event for event in self.server.events() if event.get("user") == "root"])

    def test_bytes_that_are_no_text(self):
        with self.server.socket() as connection:
            body = b"\x00\x03\x00\x00user\x00\xff\xfe\xc3\x28\x00\x00"
            connection.sendall((len(body) + 4).to_bytes(4, "big") + body)
            connection.recv(1000)
            connection.sendall(b"X\x00\x00\x00\x04")
        with self.server.socket() as connection:
            connection.sendall(b"\xff\xff\xff\xff\xff\xff")
            connection.recv(1000)
        aborted = self.server.wait_for_event("connection aborted")
        self.assertEqual((aborted["sqlstate"], aborted["level"]), ("08P01", "warning"))

    def test_cancelling(self):
        connection, thread, _ = self.run_endlessly(**self.arguments())
        watcher = self.connect(**self.arguments())
        self.wait_for_state(watcher, connection.info.backend_pid, "active")
        connection.cancel()
        thread.join(HANG_SECONDS)
        self.server.wait_for_event("cancel", session=connection.info.backend_pid)
        failed = self.server.wait_for_event("statement failed", session=connection.info.backend_pid)
        self.assertEqual(failed["sqlstate"], "57014")
        with self.server.socket() as guesser:
            guesser.sendall((16).to_bytes(4, "big") + (80877102).to_bytes(4, "big") + b"\x00\x00\x00\x01" + b"key!")
            self.assertEqual(guesser.recv(10), b"")
        self.assertEqual(self.server.wait_for_event("cancel refused")["level"], "warning")


class LogOptions(unittest.TestCase):
    def logged(self, *options, statement="SELECT 1"):
        server = Server(options=("--log", "/dev/stdout", *options))
        try:
            server.psql("-c", statement)
        finally:
            server.process.send_signal(signal.SIGTERM)
            text = server.process.communicate(timeout=HANG_SECONDS)[0]
            server.folder.cleanup()
        return text

    def test_text(self):
        text = self.logged("--log-statements", "all", statement="SELECT 'a b'")
        time_and_level = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z info "
        self.assertRegex(text, time_and_level + "login session=1 address=127.0.0.1:[0-9]+ user=ada database=s ")
        self.assertRegex(text, time_and_level + "statement session=1 user=ada seconds=[.0-9]+ rows=1 "
                         "statement=\"SELECT 'a b'\"\n")  # fmt: skip
        self.assertRegex(text, time_and_level + "stopped\n$")

    def test_statements_are_logged_if_asked_for(self):
        self.assertNotIn(" statement ", self.logged("--slow-statement", "1h"))
        self.assertNotIn(" statement ", self.logged("--log-statements", "slow", "--slow-statement", "1h"))
        self.assertNotIn(" statement ", self.logged("--log-statements", "none", "--slow-statement", "0"))
        self.assertIn(" statement ", self.logged("--slow-statement", "0"))

    def test_levels(self):
        self.assertNotIn(" login ", self.logged("--log-level", "warning"))
        self.assertNotIn("stopped", self.logged("--log-level", "off"))

    def test_what_is_wrong_is_said(self):
        for options, words in (
            (("--log", "/dev/null/log"), "cannot write the log to /dev/null/log"),
            (("--log-level", "loud"), "--log-level"),
            (("--http", "8433"), "write it as in --http 127.0.0.1:8433"),
        ):
            ran = subprocess.run([EINDB, "serve", ":memory:", "--listen", "127.0.0.1:0", *options],
                                 capture_output=True, text=True, timeout=HANG_SECONDS)  # fmt: skip
            self.assertEqual(ran.returncode, 1)
            self.assertIn(words, ran.stderr)


class Sessions(Watched):
    script = TENSORS + USERS

    def ada(self, **more):
        return self.connect(user="ada", password="one", **more)

    def bob(self, **more):
        return self.connect(user="bob", password="two", **more)

    def sessions(self, connection):
        """The rows of SHOW SESSIONS as dicts, by id."""
        cursor = connection.execute("SHOW SESSIONS")
        names = [column.name for column in cursor.description]
        return {row[0]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}

    def test_show_sessions(self):
        ada, bob = self.ada(application_name="watcher"), self.bob()
        bob.execute("SELECT 'of bob'")
        bob.execute("SET application_name = 'renamed'")
        bob.execute("BEGIN")
        sessions = self.sessions(ada)
        own, other = sessions[ada.info.backend_pid], sessions[bob.info.backend_pid]
        self.assertEqual(list(own), ["id", "user", "database", "application_name", "address", "state", "since",
                                     "statement", "seconds"])  # fmt: skip
        self.assertEqual((own["user"], own["application_name"], own["state"]), ("ada", "watcher", "active"))
        self.assertEqual(own["statement"], "SHOW SESSIONS")
        self.assertIsInstance(own["seconds"], float)
        self.assertEqual((other["user"], other["application_name"]), ("bob", "renamed"))
        self.assertEqual((other["state"], other["statement"]), ("idle in transaction", "BEGIN"))
        with self.assertRaises(psycopg.Error):
            bob.execute("SELECT nope")
        self.assertEqual(self.sessions(ada)[bob.info.backend_pid]["state"], "idle in transaction (aborted)")

    def test_show_sessions_prepared(self):
        ada = self.ada()
        for _ in range(3):
            self.assertTrue(ada.execute("SHOW SESSIONS", prepare=True).fetchall())

    def test_statements_of_others_are_for_those_who_may_stop_them(self):
        ada, bob = self.ada(), self.bob()
        ada.execute("SELECT 'private'")
        sessions = self.sessions(bob)
        self.assertIsNone(sessions[ada.info.backend_pid]["statement"])
        self.assertEqual(sessions[bob.info.backend_pid]["statement"], "SHOW SESSIONS")

    def test_passwords_are_shown_to_nobody(self):
        ada, watcher = self.ada(), self.ada()
        ada.execute("CREATE USER erin PASSWORD 's3cret'")
        shown = self.sessions(watcher)[ada.info.backend_pid]["statement"]
        self.assertEqual(shown, "<not shown: it has a password>")
        activity = watcher.execute("SELECT query FROM pg_stat_activity").fetchall()
        self.assertNotIn("s3cret", str(activity))

    def test_kill_cancels_a_statement(self):
        connection, thread, outcome = self.run_endlessly(user="bob", password="two")
        ada = self.ada()
        self.wait_for_state(ada, connection.info.backend_pid, "active")
        self.assertEqual(ada.execute(f"KILL {connection.info.backend_pid}").statusmessage, "KILL")
        thread.join(HANG_SECONDS)
        self.assertIsInstance(outcome[0], psycopg.errors.QueryCanceled)
        self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))
        self.server.wait_for_event("kill", session=connection.info.backend_pid)

    def test_kill_connection_ends_one(self):
        ada, bob = self.ada(), self.bob()
        session = bob.info.backend_pid
        ada.execute(f"KILL CONNECTION {session}")
        with self.assertRaises(psycopg.OperationalError):
            wait_until(lambda: bob.execute("SELECT 1") is None)
        self.server.wait_for_event("connection closed", session=session)
        self.assertNotIn(session, self.sessions(ada))

    def test_kill_connection_ends_one_that_is_busy(self):
        connection, thread, outcome = self.run_endlessly(user="bob", password="two")
        ada = self.ada()
        session = connection.info.backend_pid
        self.wait_for_state(ada, session, "active")
        ada.execute(f"KILL CONNECTION {session}")
        thread.join(HANG_SECONDS)
        self.assertIsInstance(outcome[0], psycopg.Error)
        self.server.wait_for_event("connection closed", session=session)

    def test_kill_is_for_ones_own_and_for_writers(self):
        ada, bob, bob_again = self.ada(), self.bob(), self.bob()
        for statement in ("KILL {}", "KILL CONNECTION {}"):
            with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                bob.execute(statement.format(ada.info.backend_pid))
        with self.assertRaises(psycopg.Error):
            bob.execute("SELECT pg_terminate_backend(%s)", (ada.info.backend_pid,))
        self.assertEqual(ada.execute("SELECT 1").fetchone(), (1,))
        bob.execute(f"KILL CONNECTION {bob_again.info.backend_pid}")
        self.server.wait_for_event("connection closed", session=bob_again.info.backend_pid)

    def test_kill_of_nobody(self):
        with self.assertRaisesRegex(psycopg.Error, "there is no session 999999"):
            self.ada().execute("KILL 999999")

    def test_pg_stat_activity(self):
        ada, bob = self.ada(), self.bob(application_name="tester")
        bob.execute("SELECT 'of bob'")
        cursor = ada.execute(
            "SELECT datname, usename, application_name, client_addr, client_port, state, query, backend_type"
            " FROM pg_stat_activity WHERE pid = %s", (bob.info.backend_pid,))  # fmt: skip
        database, user, application, address, port, state, query, kind = cursor.fetchone()
        self.assertEqual((database, user, application, address), ("s", "bob", "tester", "127.0.0.1"))
        self.assertGreater(int(port), 0)
        self.assertEqual((state, query, kind), ("idle", "SELECT 'of bob'", "client backend"))
        own = ada.execute("SELECT pid FROM pg_stat_activity WHERE pid = pg_backend_pid()").fetchall()
        self.assertEqual([int(row[0]) for row in own], [ada.info.backend_pid])
        ordered = "SELECT backend_start <= query_start, state_change <= now() FROM pg_stat_activity"
        times = ada.execute(ordered).fetchall()
        self.assertTrue(times)
        self.assertTrue(all(int(value) for row in times for value in row if value is not None))

    def test_pg_cancel_backend(self):
        connection, thread, outcome = self.run_endlessly(user="bob", password="two")
        ada = self.ada()
        self.wait_for_state(ada, connection.info.backend_pid, "active")
        found = ada.execute("SELECT pg_cancel_backend(%s)", (connection.info.backend_pid,)).fetchone()
        self.assertEqual(int(found[0]), 1)
        thread.join(HANG_SECONDS)
        self.assertIsInstance(outcome[0], psycopg.errors.QueryCanceled)
        self.assertEqual(int(ada.execute("SELECT pg_cancel_backend(999999)").fetchone()[0]), 0)

    def test_pg_terminate_backend(self):
        ada, bob = self.ada(), self.bob()
        ada.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'bob' AND pid = %s",
                    (bob.info.backend_pid,)).fetchall()  # fmt: skip
        self.server.wait_for_event("connection closed", session=bob.info.backend_pid)


class ServiceManager(unittest.TestCase):
    """The server notifies systemd (sd_notify), over a socket in the file system and over an abstract one."""

    def test_it_is_told_of_the_beginning_and_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "notify")
            for name, address in ((path, path), ("@" + path, "\0" + path)):
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                    manager.bind(address)
                    manager.settimeout(HANG_SECONDS)
                    command = [EINDB, "serve", os.path.join(folder, "s.db"), "--listen", "127.0.0.1:0"]
                    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                          env={**os.environ, "NOTIFY_SOCKET": name}) as server:  # fmt: skip
                        self.assertEqual(manager.recv(100), b"READY=1")
                        server.send_signal(signal.SIGTERM)
                        self.assertEqual(manager.recv(100), b"STOPPING=1")
                    self.assertEqual(server.returncode, 0)

    def test_nobody_need_listen(self):
        for name in ("", "/nowhere/notify", "@" + "x" * 200):
            with subprocess.Popen([EINDB, "serve", ":memory:", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                  text=True, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "NOTIFY_SOCKET": name}) as server:  # fmt: skip
                self.assertIn("listening", server.stdout.readline())
                server.send_signal(signal.SIGTERM)
            self.assertEqual(server.returncode, 0)


class WithoutServer(unittest.TestCase):
    def test_the_shell_has_no_sessions(self):
        for statement in ("SHOW SESSIONS", "KILL 1"):
            ran = subprocess.run([EINDB, ":memory:", "-c", statement], capture_output=True, text=True,
                                 timeout=HANG_SECONDS)  # fmt: skip
            self.assertEqual(ran.returncode, 1)
            self.assertIn("eindb serve", ran.stderr)


if __name__ == "__main__":
    unittest.main()
