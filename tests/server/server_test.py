"""Tests the server with clients from Debian's packages: psql, psycopg2, psycopg 3 and asyncpg.

    server_test.py EINDB
"""

import asyncio
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

import asyncpg
import psycopg
import psycopg2

from served import EINDB, TENSORS, Server, WithServer
from waiting import HANG_SECONDS, wait_until, wait_until_computing


class Psql(WithServer):
    def test_rows_of_tensors_and_tables(self):
        ran = self.server.psql("-c", "EINSUM Z[i] = SUM(X[i,j])", "-c", "SELECT name, n * 1.5 FROM t")
        self.assertEqual(ran.stdout, "0|3\n1|11\n2|19\na|1.5\nb|3\n")
        self.assertEqual(self.server.psql("-c", "EINSUM Z[i] = C[i]").stdout, "0|0|1\n1|1|1\n")

    def test_errors_have_a_place_and_a_remedy(self):
        ran = self.server.psql("-c", "EINSUM Z[i] = SUM(Q[i,j])")
        self.assertIn("LINE 1: EINSUM Z[i] = SUM(Q[i,j])\n                          ^", ran.stderr)
        self.assertIn("HINT:", ran.stderr)

    def test_a_script_is_one_transaction(self):
        ran = self.server.psql("-c", "INSERT INTO t VALUES ('c', 3); SELECT nope")
        self.assertIn('column "nope" does not exist', ran.stderr)
        self.assertEqual(self.server.psql("-c", "SELECT COUNT(*) FROM t").stdout, "2\n")

    def test_semicolons_in_the_strings_of_postgres_end_nothing(self):
        ran = self.server.psql("-c", r"SELECT E'\';' || $$a;b$$ || $t$;$$;$t$; SELECT 2 /* ; /* ; */ ; */")
        self.assertEqual((ran.stdout, ran.stderr), ("';a;b;$$;\n2\n", ""))

    def test_a_failed_transaction_waits_for_its_end(self):
        ran = self.server.psql(text="BEGIN;\nSELECT nope;\nSELECT 1;\nCOMMIT;\nSELECT 2;\n")
        self.assertIn("the transaction has failed", ran.stderr)
        self.assertEqual(ran.stdout, "BEGIN\nROLLBACK\n2\n")

    def test_tags_tell_how_many_rows(self):
        text = "BEGIN; INSERT INTO t VALUES ('x', 7), ('y', 8); UPDATE t SET n = 9 WHERE n > 6; DELETE FROM t WHERE n = 9; ROLLBACK;"
        self.assertEqual(self.server.psql(text=text).stdout, "BEGIN\nINSERT 0 2\nUPDATE 2\nDELETE 2\nROLLBACK\n")

    def test_new_values_of_a_tensor_are_counted_in_cells(self):
        ran = self.server.psql(text="BEGIN; UPDATE TENSOR X[i,j] = X[i,j]; INSERT INTO TENSOR X VALUES (0, 0, 1), (1, 1, 2); ROLLBACK;")
        self.assertEqual((ran.stdout, ran.stderr), ("BEGIN\nUPDATE 12\nINSERT 0 2\nROLLBACK\n", ""))

    def test_many_rows_in_portions(self):
        rows = self.server.psql("-v", "FETCH_COUNT=1000", "-c", "EINSUM Z[i 300, j 300] = i").stdout.splitlines()
        self.assertEqual(len(rows), 90000)
        self.assertEqual(rows[-1], "299|299|299")

    def test_commands_about_the_catalog(self):
        for command, words in (
            ("\\d", ["|X|table|", "|t|table|"]),
            ("\\d X", ["i|bigint", "j|bigint", "val|real"]),
            ("\\d t", ["name|text", "n|bigint"]),
            ("\\dt", ["|X|table|"]),
            ("\\l", ["s|"]),
            ("\\dn", ["public|"]),
            ("\\df", []),
        ):
            ran = self.server.psql("-c", command)
            self.assertEqual(ran.stderr, "", command)
            for word in words:
                self.assertIn(word, ran.stdout, command)

    def test_interrupting_a_statement(self):
        command = ["psql", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", str(self.server.port), "-U", "ada", "-d", "s",
                   "-c", "SELECT 'connected'",
                   "-c", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"]  # fmt: skip
        ran = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(ran.stdout.readline(), "connected\n")
        # Once the server computes, psql has sent its statement.
        self.assertTrue(wait_until_computing(self.server.process.pid))
        ran.send_signal(signal.SIGINT)
        self.assertIn("cancel", ran.communicate(timeout=HANG_SECONDS)[1])


class Psycopg2(WithServer):
    def test_values_have_types(self):
        connection = psycopg2.connect(**self.server.arguments())
        cursor = connection.cursor()
        cursor.execute("EINSUM Z[i] = SUM(X[i,j])")
        self.assertEqual(cursor.fetchall(), [(0, 3.0), (1, 11.0), (2, 19.0)])
        cursor.execute("SELECT *, NULL, 1.5 FROM t WHERE n = %s", (2,))
        self.assertEqual(cursor.fetchall(), [("b", 2, None, 1.5)])
        cursor.execute("INSERT INTO t VALUES (%s, %s)", ("c", 3))
        self.assertEqual(cursor.rowcount, 1)
        connection.rollback()
        cursor.execute("SELECT COUNT(*) FROM t")
        self.assertEqual(cursor.fetchone(), (2,))
        connection.close()


class Psycopg3(WithServer):
    def setUp(self):
        self.connection = psycopg.connect(**self.server.arguments())

    def tearDown(self):
        self.connection.close()

    def test_tags_are_those_of_the_statement_behind_comments_and_definitions(self):
        self.connection.autocommit = True
        for statement, tag in (
            ("CREATE TABLE tags (n INTEGER)", "CREATE TABLE"),
            ("/* app=shop */ INSERT INTO tags VALUES (1), (2)", "INSERT 0 2"),
            ("-- shop\nSELECT n FROM tags", "SELECT 2"),
            ("WITH more(n) AS (VALUES (3), (4)) INSERT INTO tags SELECT n FROM more", "INSERT 0 2"),
            ("WITH few AS (SELECT 3) UPDATE tags SET n = n + 1 WHERE n IN (TABLE few)", "UPDATE 1"),
            ("WITH Y[i] = SUM(X[i,j]) EINSUM Z[i] = Y[i] * 2", "SELECT 3"),
            ("CREATE TENSOR w AS EINSUM w[i 3] = i", "CREATE TENSOR"),
            ("WITH GRADIENT OF loss[] = SUM(w[i]^2) WITH RESPECT TO (w) UPDATE TENSOR w[i] = w[i] - dw[i]", "UPDATE 3"),
            ("DROP TABLE tags", "DROP TABLE"),
            ("DROP TENSOR w", "DROP TENSOR"),
        ):
            with self.subTest(statement):
                self.assertEqual(self.connection.execute(statement, prepare=True).statusmessage, tag)

    def test_parameters(self):
        execute = self.connection.execute
        self.assertEqual(execute("EINSUM Z[i] = SUM(X[i,j]) * %s", (2.5,)).fetchall(), [(0, 7.5), (1, 27.5), (2, 47.5)])
        for binary in (False, True):
            found = execute("SELECT i, j, val FROM X WHERE i = %s AND j > %s", (1, 2), binary=binary)
            self.assertEqual(found.fetchall(), [(1, 3, 3.5)])
        self.assertEqual(execute("SELECT n FROM t WHERE name = %s", ("b",), binary=True).fetchall(), [(2,)])

    def test_pipelines(self):
        with self.connection.pipeline():
            first = self.connection.execute("SELECT 1")
            second = self.connection.execute("SELECT n FROM t")
        self.assertEqual((first.fetchall(), second.fetchall()), ([(1,)], [(1,), (2,)]))

    def test_what_fails_in_a_pipeline_undoes_it(self):
        self.connection.autocommit = True
        with self.assertRaises(psycopg.Error), self.connection.pipeline():
            self.connection.execute("INSERT INTO t VALUES ('z', 26)")
            self.connection.execute("SELECT nope")
        self.assertEqual(self.connection.execute("SELECT COUNT(*) FROM t").fetchall(), [(2,)])

    def test_statements_are_prepared_once(self):
        for n in range(12):
            self.assertEqual(self.connection.execute("SELECT %s + 1", (n,), prepare=True).fetchone(), (n + 1,))

    def test_server_side_cursors_end_with_the_transaction(self):
        with self.connection.transaction():
            rows = self.connection.execute("SELECT i, j FROM X").fetchall()
        self.assertEqual(len(rows), 12)

    def test_cancelling(self):
        timer = threading.Timer(0.5, self.connection.cancel)
        timer.start()
        with self.assertRaises(psycopg.errors.QueryCanceled):
            self.connection.execute(
                "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"
            )
        self.connection.rollback()
        self.assertEqual(self.connection.execute("SELECT 1").fetchone(), (1,))


class Asyncpg(WithServer):
    def test_binary_values(self):
        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            rows = await connection.fetch("EINSUM Z[i] = SUM(X[i,j]) * $1", 2.0)
            self.assertEqual([tuple(row) for row in rows], [(0, 6.0), (1, 22.0), (2, 38.0)])
            self.assertEqual([tuple(row) for row in await connection.fetch("SELECT * FROM t")], [("a", 1), ("b", 2)])
            async with connection.transaction():
                seen = [row["j"] async for row in connection.cursor("SELECT i, j FROM X", prefetch=5)]
            self.assertEqual(seen, [0, 1, 2, 3] * 3)
            await connection.close()

        asyncio.run(session())


class Passwords(WithServer):
    script = TENSORS + "CREATE USER ada PASSWORD 'secret'; CREATE USER eve PASSWORD 'r' READ ONLY;"

    def test_the_right_password_and_wrong_ones(self):
        self.assertEqual(self.server.psql("-c", "SELECT 1", PGPASSWORD="secret").stdout, "1\n")
        for user, password in (("ada", "wrong"), ("nobody", "secret")):
            start = time.monotonic()
            with self.assertRaises(psycopg2.OperationalError) as caught:
                psycopg2.connect(**{**self.server.arguments(), "user": user, "password": password})
            self.assertIn("password authentication failed", str(caught.exception))
            self.assertGreater(time.monotonic() - start, 0.9)

    def test_a_read_only_user_reads_only(self):
        with psycopg.connect(**{**self.server.arguments(), "user": "eve", "password": "r"}) as connection:
            self.assertEqual(connection.execute("SELECT COUNT(*) FROM t").fetchone(), (2,))
            with self.assertRaises(psycopg.errors.ReadOnlySqlTransaction):
                connection.execute("INSERT INTO t VALUES ('c', 3)")

    def test_no_statement_before_the_password(self):
        with self.server.socket() as client:
            body = struct.pack("!i", 196608) + b"user\0ada\0\0"
            client.sendall(struct.pack("!i", len(body) + 4) + body + b"Q\0\0\0\x0dSELECT 1\0")
            received = b""
            while chunk := client.recv(4096):
                received += chunk
        self.assertTrue(received.startswith(b"R"))
        self.assertIn(b"C08P01", received)


class Hostile(WithServer):
    def start(self):
        client = self.server.socket()
        body = struct.pack("!i", 196608) + b"user\0ada\0\0"
        client.sendall(struct.pack("!i", len(body) + 4) + body)
        received = b""
        while not received.endswith(b"Z\0\0\0\x05I"):
            received += client.recv(4096)
        return client

    def rest(self, client):
        received = b""
        try:
            while chunk := client.recv(4096):
                received += chunk
        except ConnectionResetError:
            pass
        return received

    def test_bytes_that_are_no_messages(self):
        for bytes_ in (b"Q\xff\xff\xff\xff", b"Q\0\0\0\3", b"Q\x7f\xff\xff\xff", b"\0\0\0\0\4", b"B\0\0\0\6xx", b"p\0\0\0\5x"):
            with self.start() as client:
                client.sendall(bytes_)
                self.assertIn(b"FATAL", self.rest(client), bytes_)
        for bytes_ in (b"GET / HTTP/1.0\r\n\r\n", b"\0\0\0\x08\x04\xd2\x16\x2fX", b"\0\0\0\4", b"\xff" * 100):
            with self.server.socket() as client:
                client.sendall(bytes_)
                client.shutdown(socket.SHUT_WR)
                self.rest(client)
        self.assertEqual(self.server.psql("-c", "SELECT 1").stdout, "1\n")

    def test_messages_that_stop_in_the_middle(self):
        clients = [self.start() for _ in range(50)]
        for client in clients:
            client.sendall(b"Q\0\0\0\x20SELECT")
        self.assertEqual(self.server.psql("-c", "SELECT 1").stdout, "1\n")
        for client in clients:
            client.close()
        self.assertEqual(self.server.psql("-c", "SELECT 2").stdout, "2\n")

    def test_no_descriptor_is_left(self):
        def count():
            return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

        def sessions(user):
            rows = watcher.execute("SELECT usename FROM pg_stat_activity").fetchall()
            return sum(name == user for (name,) in rows)

        with psycopg.connect(**self.server.arguments(user="watcher"), autocommit=True) as watcher:
            for client in [self.start() for _ in range(20)]:
                client.close()
            self.assertTrue(wait_until(lambda: sessions("ada") == 0))
            before = count()
            for client in [self.start() for _ in range(50)]:
                client.close()
            self.assertTrue(wait_until(lambda: count() <= before), (count(), before))

    def test_cancel_keys_are_not_guessed(self):
        for secret in range(100):
            with self.server.socket() as client:
                client.sendall(struct.pack("!iiii", 16, 80877102, 1, secret))
                self.rest(client)
        self.assertEqual(self.server.psql("-c", "SELECT 1").stdout, "1\n")


class Addresses(unittest.TestCase):
    def test_nobody_listens_to_the_world_without_users(self):
        ran = subprocess.run([EINDB, "serve", ":memory:", "--listen", "0.0.0.0:0"], capture_output=True, text=True,
                             timeout=HANG_SECONDS)  # fmt: skip
        self.assertEqual(ran.returncode, 1)
        self.assertIn("CREATE USER", ran.stderr)

    def test_what_is_no_address(self):
        for place in ("5433", "localhost:", "nowhere:5433", "127.0.0.1:99999"):
            ran = subprocess.run([EINDB, "serve", ":memory:", "--listen", place], capture_output=True, text=True,
                                 timeout=HANG_SECONDS)  # fmt: skip
            self.assertEqual(ran.returncode, 1, place)
            self.assertIn("--listen", ran.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
