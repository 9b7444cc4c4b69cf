"""Tests what the console's page asks of the server, over http.client: login, sessions, statements, and hostile requests.

    console_test.py EINDB
"""

import contextlib
import http.client
import json
import os
import socket
import ssl
import threading
import unittest

import psycopg

from operation_test import ENDLESS, Watched, WatchedServer
from served import TENSORS
from tls_test import Certificates
from waiting import HANG_SECONDS, wait_until

USERS = """CREATE USER ada PASSWORD 'one' ADMIN; CREATE USER bob PASSWORD 'two' READ ONLY;
CREATE USER zoë PASSWORD 'Straße';"""


class Browser:
    """A browser in small: it keeps the cookie, and sends the headers of the console's page."""

    def __init__(self, server, context=None):
        self.port = server.http_port
        self.context = context
        self.cookie = None
        self.set_cookie = None

    @property
    def origin(self):
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}"

    def connect(self):
        if self.context:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=HANG_SECONDS, context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_SECONDS)

    def headers(self, without=(), **more):
        headers = {"Content-Type": "application/json", "X-Eindb-Console": "1", "Origin": self.origin}
        if self.cookie:
            headers["Cookie"] = self.cookie
        headers.update({name.replace("_", "-"): value for name, value in more.items()})
        return {name: value for name, value in headers.items() if name not in without}

    def ask(self, path, body=None, method=None, headers=None):
        """(status, headers, body)"""
        with contextlib.closing(self.connect()) as connection:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method or ("GET" if data is None else "POST"), path, data,
                               self.headers() if headers is None else headers)  # fmt: skip
            answer = connection.getresponse()
            if cookie := answer.getheader("Set-Cookie"):
                self.set_cookie = cookie
                self.cookie = cookie.split(";")[0]
            return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")

    def log_in(self, user="ada", password="one"):
        status, _, body = self.ask("/api/login", {"user": user, "password": password})
        return status, json.loads(body)

    def run(self, text, **more):
        """The events of a text."""
        status, _, body = self.ask("/api/run", {"text": text, **more})
        if status != 200:
            raise AssertionError((status, body))
        return [json.loads(line) for line in body.splitlines()]

    def rows(self, text, **more):
        events = self.run(text, **more)
        for event in events:
            if "error" in event:
                raise AssertionError(event)
        return [row for event in events if isinstance(event.get("rows"), list) for row in event["rows"]]


class Console(Watched):
    script = TENSORS + USERS

    def browser(self, user="ada", password="one"):
        browser = Browser(self.server)
        status, said = browser.log_in(user, password)
        self.assertEqual((status, said["user"]), (200, user), said)
        self.addCleanup(browser.ask, "/api/logout", {})
        return browser

    def connect(self, **arguments):
        return super().connect(user="ada", password="one", **arguments)


class Login(Console):
    def test_login_and_logout(self):
        browser = Browser(self.server)
        self.assertEqual(json.loads(browser.ask("/api/session")[2]), {"user": None})
        status, said = browser.log_in()
        self.assertEqual((status, said["user"], said["role"]), (200, "ada", "admin"))
        self.assertEqual(json.loads(browser.ask("/api/session")[2])["user"], "ada")
        self.assertEqual(browser.rows("SELECT n FROM t ORDER BY n"), [[1], [2]])
        kept = browser.cookie
        self.assertEqual(browser.ask("/api/logout", {})[0], 200)
        browser.cookie = kept
        self.assertEqual(json.loads(browser.ask("/api/session")[2]), {"user": None})
        self.assertEqual(browser.ask("/api/run", {"text": "SELECT 1"})[0], 401)

    def test_the_cookie(self):
        browser = self.browser()
        name, *attributes = browser.set_cookie.split("; ")
        self.assertTrue(name.startswith(f"eindb_{self.server.http_port}="), name)
        self.assertGreaterEqual(len(name.split("=")[1]), 43)
        self.assertEqual(set(attributes), {"HttpOnly", "SameSite=Strict", "Path=/"})
        self.assertNotEqual(browser.cookie, self.browser().cookie)

    def test_wrong_passwords(self):
        for user, password in (("ada", "two"), ("ada", ""), ("nobody", "one"), ("ada", "x" * 2000), ("a\u0301da", "one")):
            status, said = Browser(self.server).log_in(user, password)
            self.assertEqual(status, 401, said)
            self.assertEqual(said["error"]["code"], "28P01")
        self.server.wait_for_event("login refused", reason="wrong password")

    def test_names_and_passwords_beyond_ascii(self):
        self.browser("zoë", "Straße")

    def test_bodies_that_are_no_login(self):
        browser = Browser(self.server)
        for body in (b"", b"{", b"[]", b"null", b'{"user":1,"password":"x"}', b'{"user":"ada"}', b'{"user":"","password":""}',
                     b'{"user":"a\\u0000","password":"x"}', b"\xff\xfe", b"[" * 3000):  # fmt: skip
            self.assertEqual(browser.ask("/api/login", body)[0], 400, body)
        self.assertEqual(browser.ask("/api/login", b" " * 5000)[0], 413)

    def test_sessions_are_listed_and_killed(self):
        browser = self.browser("bob", "two")
        number = json.loads(browser.ask("/api/session")[2])["session"]
        admin = self.connect()
        rows = admin.execute("SELECT usename, application_name FROM pg_stat_activity WHERE pid = %s", (number,)).fetchall()
        self.assertEqual(rows, [("bob", "eindb console")])
        admin.execute(f"KILL CONNECTION {number}")
        self.assertTrue(wait_until(lambda: json.loads(browser.ask("/api/session")[2])["user"] is None))
        self.assertEqual(browser.ask("/api/run", {"text": "SELECT 1"})[0], 401)


class Guards(Console):
    def test_requests_of_other_pages(self):
        browser = self.browser()
        for headers in (
            browser.headers(without=("X-Eindb-Console",)),
            browser.headers(Origin="http://evil.example"),
            browser.headers(Origin="null"),
            browser.headers(Origin=f"http://127.0.0.1:{self.server.http_port + 1}"),
            browser.headers(Origin=f"https://127.0.0.1:{self.server.http_port}"),
            browser.headers(Sec_Fetch_Site="cross-site"),
            browser.headers(Sec_Fetch_Site="same-site"),
        ):
            for path in ("/api/run", "/api/login", "/api/cancel", "/api/logout"):
                self.assertEqual(browser.ask(path, {"text": "SELECT 1"}, headers=headers)[0], 403, headers)
        self.assertEqual(browser.rows("SELECT 1"), [[1]])
        self.assertEqual(browser.ask("/api/run", {"text": "SELECT 1"}, headers=browser.headers(without=("Origin",)))[0], 200)

    def test_types_that_forms_can_send(self):
        browser = self.browser()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"):
            headers = browser.headers(Content_Type=kind)
            self.assertEqual(browser.ask("/api/run", {"text": "SELECT 1"}, headers=headers)[0], 415, kind)
        headers = browser.headers(Content_Type="Application/JSON; charset=utf-8")
        self.assertEqual(browser.ask("/api/run", {"text": "SELECT 1"}, headers=headers)[0], 200)

    def test_names_of_the_host(self):
        browser = self.browser()
        port = self.server.http_port
        for host, status in (("evil.example", 421), (f"evil.example:{port}", 421), ("127.0.0.1.evil.example", 421), ("", 421),
                             ("localhost.evil.example", 421), ("127.0.0.1:80:80", 421), ("[::1", 421), ("a@localhost", 421),
                             (f"localhost:{port}", 200), ("127.0.0.1", 200), (f"[::1]:{port}", 200)):  # fmt: skip
            for path in ("/api/session", "/"):
                got = browser.ask(path, headers=browser.headers(Host=host))[0]
                self.assertTrue(got == status or (status == 200 and path == "/" and got == 404), (host, path, got))
        # Programs that watch the server may know it by any name.
        self.assertEqual(browser.ask("/health", headers={"Host": "evil.example"})[0], 200)

    def test_names_that_are_given(self):
        server = WatchedServer(TENSORS, ("--http-name", "db.example"))
        try:
            browser = Browser(server)
            self.assertEqual(browser.ask("/api/session", headers={"Host": "DB.example:80"})[0], 200)
            self.assertEqual(browser.ask("/api/session", headers={"Host": "example"})[0], 421)
        finally:
            server.close()

    def test_security_headers(self):
        browser = self.browser()
        for path in ("/", "/api/session", "/api/nothing", "/api/run"):
            _, headers, _ = browser.ask(path)
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["X-Frame-Options"], "DENY")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertNotIn("Access-Control-Allow-Origin", headers)

    def test_methods_and_paths(self):
        browser = self.browser()
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "GET", "HEAD"):
            status, headers, _ = browser.ask("/api/run", method=method)
            self.assertEqual((status, headers["Allow"]), (405, "POST"), method)
        for path in ("/", "/api/session"):
            for method in ("PUT", "OPTIONS", "POST"):
                status, headers, _ = browser.ask(path, method=method)
                self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"), method)
        status, headers, body = browser.ask("/api/session", method="HEAD")
        self.assertEqual((status, body), (200, ""))
        self.assertGreater(int(headers["Content-Length"]), 10)
        self.assertEqual(browser.ask("/api/run?x=1", {"text": "SELECT 1"})[0], 200)
        for path in ("/api/", "/api/nothing", "/api/run/", "/api/../api/run", "/api/%72un"):
            self.assertEqual(browser.ask(path, {"text": "SELECT 1"})[0], 404, path)
        self.assertEqual(browser.ask("/nothing")[0], 404)

    def test_cookies_of_others(self):
        browser = self.browser()
        name, token = browser.cookie.split("=")
        for cookie in (f"{name}=", f"{name}={token[:-1]}", f"{name}={token}x", f"{name}={token}; {name}={token}", f"x{name}={token}",
                       "=", ";;;", name, f"{name}={'a' * 4000}"):  # fmt: skip
            headers = browser.headers(Cookie=cookie)
            self.assertEqual(json.loads(browser.ask("/api/session", headers=headers)[2]), {"user": None}, cookie)
        headers = browser.headers(Cookie=f"other=1; {name}={token} ; more=2")
        self.assertEqual(json.loads(browser.ask("/api/session", headers=headers)[2])["user"], "ada")

    def test_hostile_bytes(self):
        port = self.server.http_port
        head = f"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
        for request, status in (
            (head + b"Content-Length: 9999999999\r\n\r\n", b"413"),
            (head + b"Content-Length: 1048577\r\n\r\n", b"413"),
            (head + b"Content-Length: -1\r\n\r\n", b"400"),
            (head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"),
            (head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
            (head + b"Transfer-Encoding: chunked\r\n\r\n200000\r\n" + b"x" * 100, b"413"),
            (head + b"Content-Length: 2\r\n\r\n{}", b"403"),
            (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", b"413"),
            (b"GET /api/session HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", b"421"),
            (b"GET /api/session HTTP/1.1\r\n\r\n", b"421"),
            (b"GET /api/session HTTP/1.0\r\nHost: localhost\r\n\r\n", b"200"),
        ):
            answer = self.server.raw(request)
            self.assertEqual(answer[:13], b"HTTP/1.1 " + status + b" ", (request[:120], answer[:200]))
        for request in (head, head + b"Content-Length: 100\r\n\r\n{", head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{"):
            self.server.raw(request)
            self.server.raw(request, linger=False)
        self.assertEqual(self.server.get("/health")[0], 200)

    def test_a_body_that_does_not_come_is_not_waited_for(self):
        with socket.create_connection(("127.0.0.1", self.server.http_port), timeout=HANG_SECONDS) as connection:
            connection.sendall(b"POST /api/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            with contextlib.suppress(ConnectionResetError):
                self.assertEqual(connection.recv(100), b"")


class Statements(Console):
    def test_values_are_exact(self):
        browser = self.browser()
        events = browser.run("""SELECT 9007199254740991 AS a, 9007199254740993 AS b, 0.5 AS c, NULL AS d,
            'é<"' || chr(10) AS e, 1 = 1 AS f, CAST('-1.5e300' AS float8) AS g""")
        self.assertFalse([event for event in events if "error" in event])
        columns = next(event["columns"] for event in events if "columns" in event)
        self.assertEqual([column["name"] for column in columns], list("abcdefg"))
        row = next(event["rows"][0] for event in events if isinstance(event.get("rows"), list))
        self.assertEqual(row[:2] + [float(row[2])] + row[3:],
                         [9007199254740991, "9007199254740993", 0.5, None, 'é<"\n', True, -1.5e300])  # fmt: skip
        rows = browser.rows("EINSUM Z[i 3] = CAST(i - 1 AS FLOAT64) / CAST(i - i AS FLOAT64)")
        self.assertEqual(rows, [[0, "-Infinity"], [1, "NaN"], [2, "Infinity"]])

    def test_a_tensor(self):
        browser = self.browser()
        self.assertEqual(browser.rows("EINSUM Z[i] = SUM(X[i,j])"), [[0, 3.0], [1, 11.0], [2, 19.0]])
        self.assertEqual(browser.rows("EINSUM Z[i] = C[i]"), [[0, 0.0, 1.0], [1, 1.0, 1.0]])

    def test_several_statements_and_pages(self):
        events = self.browser().run("SELECT 1;\n-- é\nSELECT n FROM t ORDER BY n;;", rows=1)
        begins = [(event["statement"], event["position"]) for event in events if "statement" in event]
        self.assertEqual(begins, [(0, 0), (1, 15)])
        done = [event for event in events if "done" in event]
        self.assertEqual([(event["rows"], event.get("more", False)) for event in done], [(1, False), (1, True)])
        self.assertEqual(events[-1], {"end": True, "transaction": "I"})
        self.assertEqual([event["rows"] for event in events if isinstance(event.get("rows"), list)], [[[1]], [[1]]])

    def test_errors_have_their_places(self):
        browser = self.browser()
        for text, place in (
            ("SELECT 1;\nSELECT nope FROM t", "nope"),
            ("SELECT 'é';\nEINSUM Z[i] = SUM(Nope[i,j])", "Nope"),
            ("EINSUM Z[i] = SUM(X[i,j]", None),
            ("SELEC 1", "SELEC"),
        ):
            errors = [event["error"] for event in browser.run(text) if "error" in event]
            self.assertEqual(len(errors), 1, text)
            if place is not None:
                self.assertEqual(errors[0].get("position"), text.index(place), (text, errors))
            self.assertEqual(browser.rows("SELECT 1"), [[1]])

    def test_nothing_runs_behind_an_error(self):
        browser = self.browser()
        browser.run("CREATE TABLE a (x INTEGER); SELECT nope; CREATE TABLE b (x INTEGER)")
        self.assertEqual(browser.rows("SELECT COUNT(*) FROM a"), [[0]])
        self.assertTrue(any("error" in event for event in browser.run("SELECT COUNT(*) FROM b")))
        browser.rows("DROP TABLE a")

    def test_transactions_and_settings_last(self):
        browser = self.browser()
        self.assertEqual(browser.run("BEGIN; CREATE TABLE gone (x INTEGER)")[-1]["transaction"], "T")
        self.assertEqual(browser.run("SELECT nope")[-1]["transaction"], "E")
        self.assertEqual(browser.run("ROLLBACK")[-1]["transaction"], "I")
        self.assertTrue(any("error" in event for event in browser.run("SELECT * FROM gone")))
        browser.rows("SET parallelism = 4")
        self.assertEqual(browser.rows("SHOW parallelism"), [["4"]])
        self.assertNotEqual(self.browser().rows("SHOW parallelism"), [["4"]])

    def test_permissions(self):
        events = self.browser("bob", "two").run("CREATE TABLE no (x INTEGER)")
        self.assertEqual([event["error"]["code"] for event in events if "error" in event], ["25006"])

    def test_copy(self):
        browser = self.browser()
        self.assertEqual(browser.rows("COPY t TO STDOUT"), [["a\t1\n"], ["b\t2\n"]])
        errors = [event["error"] for event in browser.run("COPY t FROM STDIN") if "error" in event]
        self.assertIn("the console has no rows for it", errors[0]["message"])
        self.assertEqual(browser.rows("SELECT 1"), [[1]])

    def test_long_values_are_cut(self):
        value = self.browser().rows("SELECT printf('%.*c', 100000, 'x')")[0][0]
        self.assertEqual((value["bytes"], set(value["cut"]), len(value["cut"])), (100000, {"x"}, 65536))

    def test_a_plan(self):
        plan = json.loads(self.browser().rows("EXPLAIN (FORMAT json) EINSUM Z[i,k] = SUM(X[i,j] * X[k,j])")[0][0])
        self.assertEqual(plan["vertices"][0]["vertex"], "Z")

    def test_texts_that_are_none(self):
        browser = self.browser()
        for body in (b"{}", b'{"text":1}', b'{"text":"\\u0000"}', b'{"text":"SELECT 1","rows":0}', b'{"text":"\xff"}',
                     b'{"text":"SELECT 1","rows":1000001}', b'{"text":"SELECT 1","rows":-1}'):  # fmt: skip
            self.assertEqual(browser.ask("/api/run", body)[0], 400, body)
        for text in ("", " ", "-- nothing", ";;"):
            self.assertEqual(browser.run(text), [{"end": True, "transaction": "I"}])
        self.assertEqual(browser.ask("/api/run", {"text": "x" * (1 << 20)})[0], 413)

    def test_what_is_too_long_is_refused_after_it_was_sent(self):
        """A browser reads the answer only when its request has left it, however little the network takes at once."""
        browser = self.browser()
        body = b"x" * (12 << 20)
        head = "".join(f"{name}: {value}\r\n" for name, value in browser.headers(Content_Length=len(body)).items())
        with socket.create_connection(("127.0.0.1", self.server.http_port), timeout=HANG_SECONDS) as connection:
            connection.sendall(f"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n".encode() + body)
            self.assertTrue(connection.recv(64).startswith(b"HTTP/1.1 413 "))


class Running(Console):
    def begin(self, browser, text=ENDLESS):
        """Runs a text in a thread. Returns the thread and the list that gets its events."""
        events = []
        thread = threading.Thread(target=lambda: events.extend(browser.run(text)))
        thread.start()
        watcher = self.connect()
        number = json.loads(browser.ask("/api/session")[2])["session"]
        self.wait_for_state(watcher, number, "active")
        return thread, events, number

    def assert_cancelled(self, thread, events):
        thread.join(HANG_SECONDS)
        self.assertEqual([event["error"]["code"] for event in events if "error" in event], ["57014"])

    def test_cancel(self):
        browser = self.browser()
        thread, events, _ = self.begin(browser)
        self.assertEqual(browser.ask("/api/run", {"text": "SELECT 1"})[0], 409)
        self.assertEqual(browser.rows("SELECT 2", views=True), [[2]])
        self.assertEqual(json.loads(browser.ask("/api/cancel", {})[2]), {"cancelled": True})
        self.assert_cancelled(thread, events)
        self.assertEqual(browser.rows("SELECT 1"), [[1]])
        self.assertEqual(json.loads(browser.ask("/api/cancel", {})[2]), {"cancelled": False})

    def test_kill(self):
        browser = self.browser()
        thread, events, number = self.begin(browser)
        self.connect().execute(f"KILL {number}")
        self.assert_cancelled(thread, events)

    def test_a_browser_that_leaves_cancels(self):
        browser = self.browser()
        number = json.loads(browser.ask("/api/session")[2])["session"]
        with contextlib.closing(browser.connect()) as connection:
            connection.request("POST", "/api/run", json.dumps({"text": ENDLESS}), browser.headers())
            watcher = self.connect()
            self.wait_for_state(watcher, number, "active")
        self.wait_for_state(watcher, number, "idle")

        def runs_again():
            status, _, body = browser.ask("/api/run", {"text": "SELECT 1"})
            return status == 200 and '"rows":[[1]]' in body

        self.assertTrue(wait_until(runs_again))

    def test_a_browser_that_reads_nothing_is_bounded(self):
        browser = self.browser()
        number = json.loads(browser.ask("/api/session")[2])["session"]
        text = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, x FROM c"
        with socket.create_connection(("127.0.0.1", self.server.http_port), timeout=HANG_SECONDS) as connection:
            body = json.dumps({"text": text, "rows": 1000000}).encode()
            fields = {"Host": f"127.0.0.1:{self.server.http_port}", "Content-Length": len(body), **browser.headers()}
            head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            connection.sendall(f"POST /api/run HTTP/1.1\r\n{head}\r\n".encode() + body)
            connection.recv(100)
            self.assertEqual(browser.rows("SELECT 1", views=True), [[1]])
        watcher = self.connect()
        self.wait_for_state(watcher, number, "idle")


class Progress(Console):
    def test_progress_comes_meanwhile(self):
        browser = self.browser()
        text = "SET parallelism = 4096; EINSUM Z[i 200000] = SUM[j 200000](SIN(i * 0.1 + j))"
        with contextlib.closing(browser.connect()) as connection:
            connection.request("POST", "/api/run", json.dumps({"text": text}), browser.headers())
            answer = connection.getresponse()
            for line in answer:
                if "progress" in json.loads(line):
                    break
            else:
                self.fail("the statement ended without a word")
            self.assertEqual(json.loads(browser.ask("/api/cancel", {})[2]), {"cancelled": True})
            self.assertIn('"57014"', answer.read().decode())


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.certificates = Certificates()
        options = ("--tls-cert", cls.certificates.path("server.crt"), "--tls-key", cls.certificates.path("server.key"))
        cls.server = WatchedServer(TENSORS + USERS, (*options, "--tls-required"))
        cls.context = ssl.create_default_context(cafile=cls.certificates.path("ca.crt"))

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.certificates.folder.cleanup()

    def test_https(self):
        browser = Browser(self.server, self.context)
        self.assertEqual(browser.log_in()[0], 200)
        name, *attributes = browser.set_cookie.split("; ")
        self.assertTrue(name.startswith(f"__Host-eindb_{self.server.http_port}="), name)
        self.assertEqual(set(attributes), {"HttpOnly", "SameSite=Strict", "Path=/", "Secure"})
        self.assertEqual(browser.rows("SELECT 1"), [[1]])
        headers = browser.headers(Origin=f"http://127.0.0.1:{self.server.http_port}")
        self.assertEqual(browser.ask("/api/run", {"text": "SELECT 1"}, headers=headers)[0], 403)
        browser.ask("/api/logout", {})

    def test_no_login_in_clear_text(self):
        status, said = Browser(self.server).log_in()
        self.assertEqual((status, said["error"]["code"]), (401, "28000"))
        self.assertEqual(self.server.get("/health")[0], 200)  # programs that watch need no TLS

    def test_bytes_that_are_no_handshake(self):
        for piece in (b"\x16\x03\x01\x02\x00" + os.urandom(600), b"\x16", b"\x16\x03\x01" + b"\x00" * 200):
            self.server.raw(piece)
            self.server.raw(piece, linger=False)
        self.assertEqual(Browser(self.server, self.context).ask("/health")[0], 200)


class WithoutUsers(unittest.TestCase):
    def test_this_machine_is_trusted(self):
        server = WatchedServer(TENSORS)
        try:
            browser = Browser(server)
            self.assertEqual(browser.log_in("anybody", "")[0], 200)
            self.assertEqual(browser.rows("SELECT COUNT(*) FROM t"), [[2]])
        finally:
            server.close()  # while the session is open


class Ends(unittest.TestCase):
    def test_a_statement_has_its_grace_and_is_cancelled_then(self):
        server = WatchedServer(options=("--shutdown-grace", "1h"))
        browser = Browser(server)
        browser.log_in("anybody", "")
        events = []
        thread = threading.Thread(target=lambda: events.extend(browser.run(ENDLESS)))
        thread.start()
        self.assertTrue(wait_until(lambda: server.metric("eindb_connections_active") == 1))
        server.process.terminate()
        server.wait_for_event("shutting down")
        self.assertEqual(browser.ask("/api/run", {"text": "SELECT 1"})[0], 503)
        server.process.terminate()
        thread.join(HANG_SECONDS)
        self.assertEqual(server.process.wait(HANG_SECONDS), 0)
        self.assertIn("57014", [event["error"]["code"] for event in events if "error" in event])
        server.close()

    def test_no_more_sessions_than_seats(self):
        server = WatchedServer(TENSORS + USERS, ("--max-connections", "3"))
        try:
            first, second = Browser(server), Browser(server)
            self.assertEqual(first.log_in()[0], 200)
            status, said = second.log_in()
            self.assertEqual((status, said["error"]["code"]), (401, "53300"))
            first.ask("/api/logout", {})

            def is_let_in():
                return second.log_in()[0] == 200

            self.assertTrue(wait_until(is_let_in))
            with contextlib.closing(psycopg.connect(**server.arguments(password="one"))) as connection:
                self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))
        finally:
            server.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
