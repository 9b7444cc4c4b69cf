"""Tests the server's limits for clients: sizes, times and numbers; and the server's own end.

    limits_test.py EINDB
"""

import contextlib
import os
import resource
import select
import signal
import struct
import threading
import time
import unittest

import psycopg

from served import TENSORS, Server, WithServer
from waiting import HANG_SECONDS, cpu_seconds, wait_until

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"
USERS = TENSORS + "CREATE USER ada PASSWORD 'secret'; CREATE USER eve PASSWORD 'secret';"


def startup(user="ada"):
    body = struct.pack("!i", 196608) + b"user\0" + user.encode() + b"\0\0"
    return struct.pack("!i", len(body) + 4) + body


def message(kind, body):
    return kind + struct.pack("!i", len(body) + 4) + body


def read_until(client, end):
    received = b""
    while not received.endswith(end):
        chunk = client.recv(65536)
        if not chunk:
            break
        received += chunk
    return received


def read_all(client):
    received = b""
    with contextlib.suppress(ConnectionResetError, TimeoutError):
        while chunk := client.recv(65536):
            received += chunk
    return received


def log_in(server):
    """Logs in without a password and without a driver."""
    client = server.socket()
    client.sendall(startup())
    read_until(client, b"Z\0\0\0\5I")
    return client


def resident(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def connect(server, **more):
    return psycopg.connect(**server.arguments(**more), autocommit=True)


def has_answer(connection, seconds=0.0):
    """Whether the answer to the statement that was sent is there, or comes within that time."""
    select.select([connection.pgconn.socket], [], [], seconds)
    connection.pgconn.consume_input()
    return not connection.pgconn.is_busy()


def cancelled_answer(connection):
    """The answer to the statement that was sent, after it is cancelled. The request is repeated, since the statement
    may not have begun."""
    def has_ended():
        connection.cancel()
        return has_answer(connection, 0.1)

    if not wait_until(has_ended):
        raise AssertionError("a statement is not cancelled")
    return connection.pgconn.get_result()


class Sizes(WithServer):
    options = ("--max-message-bytes", "100000", "--max-statement-bytes", "2KiB")

    def test_a_statement_that_is_too_long(self):
        with connect(self.server) as connection:
            for prepare in (None, True):
                with self.assertRaises(psycopg.errors.ProgramLimitExceeded):
                    connection.execute("SELECT '" + "x" * 2048 + "'", prepare=prepare)
                self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))

    def test_a_message_that_is_too_long(self):
        with connect(self.server) as connection:
            self.assertEqual(connection.execute("SELECT length(%s)", ("x" * 90000,)).fetchone(), (90000,))
            with self.assertRaises(psycopg.OperationalError):
                connection.execute("SELECT length(%s)", ("x" * 110000,))
        # The message is refused by its length, before its content arrives.
        with log_in(self.server) as client:
            client.sendall(b"B" + struct.pack("!i", 200_000))
            self.assertIn(b"C54000", read_all(client))

    def test_small_messages_are_small(self):
        for kind in b"DECSHXcf":
            with log_in(self.server) as client:
                client.sendall(bytes([kind]) + struct.pack("!i", 50_000))
                self.assertIn(b"C54000", read_all(client))

    def test_lengths_that_are_none(self):
        for length in (-1, 0, 3, -(2**31)):
            with log_in(self.server) as client:
                client.sendall(b"Q" + struct.pack("!i", length))
                self.assertIn(b"C08P01", read_all(client))
            with self.server.socket() as client:
                client.sendall(struct.pack("!i", length) + startup()[4:])
                self.assertIn(b"C08P01", read_all(client))

    def test_halves_take_the_memory_of_halves(self):
        before = resident(self.server)
        clients = [log_in(self.server) for _ in range(100)]
        for client in clients:
            client.sendall(b"Q" + struct.pack("!i", 99_000) + b"SELECT")
        self.assertEqual(self.server.psql("-c", "SELECT 1").stdout, "1\n")
        self.assertLess(resident(self.server) - before, 5_000_000)
        for client in clients:
            client.close()


class Times(WithServer):
    """Clients choose their own time-outs. These are longer than any test."""

    options = ("--idle-timeout", "2h", "--idle-in-transaction-timeout", "3h", "--statement-timeout", "1h")

    def test_times_of_the_server(self):
        with connect(self.server) as connection:
            connection.execute("SET statement_timeout = 100000")
            self.assertEqual(connection.execute("SHOW statement_timeout").fetchone(), ("100000",))
            connection.execute("RESET statement_timeout")
            self.assertEqual(connection.execute("SHOW statement_timeout").fetchone(), ("3600000",))

    def test_times_that_come_with_the_client(self):
        with connect(self.server, options="-c statement_timeout=10min -c idle_session_timeout=4h") as connection:
            self.assertEqual(connection.execute("SHOW statement_timeout").fetchone(), ("600000",))
            self.assertEqual(connection.execute("SHOW idle_session_timeout").fetchone(), ("4h",))
        with self.assertRaisesRegex(psycopg.OperationalError, "did you mean statement_timeout"):
            connect(self.server, options="-c statment_timeout=1")
        with self.assertRaisesRegex(psycopg.OperationalError, "cannot be 'soon'"):
            connect(self.server, options="-c statement_timeout=soon")

    def test_times_of_ones_own(self):
        with connect(self.server) as connection:
            connection.execute("SET idle_session_timeout = '1h'")
            self.assertEqual(connection.execute("SHOW idle_session_timeout").fetchone(), ("1h",))
            self.assertEqual(connection.execute("SHOW idle_in_transaction_session_timeout").fetchone(), ("3h",))
            with self.assertRaises(psycopg.errors.InvalidParameterValue):
                connection.execute("SET idle_session_timeout = 'soon'")


class StatementTime(WithServer):
    options = ("--statement-timeout", "300ms")

    def test_statements(self):
        with connect(self.server) as connection:
            start = time.monotonic()
            with self.assertRaises(psycopg.errors.QueryCanceled):
                connection.execute(ENDLESS)
            self.assertGreater(time.monotonic() - start, 0.2)


class TimeBetweenStatements(WithServer):
    script = TENSORS

    def test_it_does_not_count(self):
        """Names are looked up before a statement runs. SQLite polls every so many instructions, counted over statements,
        so that these, which take many, are among those that met the time of the statement before."""
        tables = [f"t{n}" for n in range(30)]
        with connect(self.server) as connection:
            connection.execute(f"CREATE TABLE wide ({', '.join(f'c{n} integer' for n in range(400))})")
            connection.execute("CREATE VIEW all_of_it AS SELECT * FROM wide")
            for table in tables:
                connection.execute(f"CREATE TABLE {table} (a integer, b text)")
            connection.execute("SET statement_timeout = 1500")
            connection.execute("SELECT 7")
            joined = ", ".join(f"{table} x{table}" for table in tables)
            for rows in ("SELECT * FROM all_of_it", "SELECT * FROM wide", f"SELECT 1 FROM {joined}"):
                time.sleep(1.6)
                self.assertEqual(connection.execute(rows).fetchall(), [])


class LoginTime(WithServer):
    options = ("--login-timeout", "700ms")

    def test_clients_that_do_not_log_in(self):
        start = time.monotonic()
        clients = [self.server.socket() for _ in range(3)]
        clients[1].sendall(startup()[:9])
        clients[2].sendall(startup("a" * 100)[:60])
        for client in clients:
            self.assertIn(b"C57014", read_all(client))
            client.close()
        self.assertGreater(time.monotonic() - start, 0.6)


class IdleTimes(WithServer):
    """Clients send all messages at once. A client that waits for an answer first may count as idle meanwhile."""

    options = ("--idle-timeout", "700ms", "--idle-in-transaction-timeout", "300")

    def test_idle_clients(self):
        for statements, code, at_least in (([], "57P05", 0.6), (["BEGIN"], "25P03", 0.2)):
            start = time.monotonic()
            with self.server.socket() as client:
                queries = [message(b"Q", statement.encode() + b"\0") for statement in statements]
                client.sendall(startup() + b"".join(queries))
                self.assertIn(b"C" + code.encode(), read_all(client))
            self.assertGreater(time.monotonic() - start, at_least)

    def test_who_may_be_idle_for_longer(self):
        with connect(self.server, options="-c idle_session_timeout=1h") as connection:
            time.sleep(1.2)
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))


class SendTime(WithServer):
    options = ("--send-timeout", "700ms")

    def test_a_client_that_reads_nothing(self):
        with connect(self.server, user="watcher") as watcher, log_in(self.server) as client:
            client.sendall(message(b"Q", b"EINSUM Z[i 3000, j 3000] = i\0"))
            self.assertEqual(self.server.psql("-c", "SELECT 1").stdout, "1\n")
            is_there = "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'ada'"
            self.assertTrue(wait_until(lambda: watcher.execute(is_there).fetchone() == (0,)), "it keeps its place")
            received = read_all(client)
        self.assertLess(len(received), 50_000_000)


def end_by_error(connection, statement):
    """Runs a statement that does not end by itself."""
    with contextlib.suppress(psycopg.Error):
        connection.execute(statement)


class EndlessStatements(unittest.TestCase):
    """Endless statements of one user do not keep other users away, in particular not those who can end them."""

    users = TENSORS + """
        CREATE USER ada PASSWORD 'secret' ADMIN; CREATE USER bob PASSWORD 'secret';
        CREATE USER eve PASSWORD 'secret' READ ONLY;"""

    def begin_endless(self, server, count):
        clients = [connect(server, user="eve", password="secret") for _ in range(count)]
        threads = [threading.Thread(target=end_by_error, args=(client, ENDLESS), daemon=True) for client in clients]
        for thread in threads:
            thread.start()
        return clients, threads

    def test_others_work_and_an_administrator_ends_them(self):
        server = Server(self.users, ("--statement-threads", "4"))
        clients, threads = self.begin_endless(server, 20)
        with connect(server, user="bob", password="secret") as bob:
            self.assertEqual(bob.execute("SELECT COUNT(*) FROM t").fetchone(), (2,))
            bob.execute("INSERT INTO t VALUES ('c', 3)")
            self.assertEqual(len(bob.execute("EINSUM Z[i] = SUM(X[i,j])").fetchall()), 3)
        with connect(server, password="secret") as ada:
            sessions = [row[0] for row in ada.execute("SHOW SESSIONS").fetchall() if "eve" in row]
            self.assertEqual(len(sessions), 20)
            for session in sessions[10:]:
                ada.execute(f"KILL CONNECTION {session}")
            # Some statements run, others wait for a thread, and some have not reached the server yet.
            def have_ended():
                for session in sessions[:10]:
                    ada.execute(f"KILL {session}")
                return not any(thread.is_alive() for thread in threads)

            self.assertTrue(wait_until(have_ended))
        for client in clients:
            client.close()
        server.close()

    def test_those_who_may_only_read_have_a_time_by_default(self):
        for options, for_readers, for_others in (
            ((), "300000", "0"),
            (("--read-only-statement-timeout", "0"), "0", "0"),
            (("--read-only-statement-timeout", "2s"), "2000", "0"),
            (("--statement-timeout", "7s"), "7000", "7000"),
        ):
            server = Server(self.users, options)
            for user, expected in (("eve", for_readers), ("bob", for_others)):
                with connect(server, user=user, password="secret") as client:
                    self.assertEqual(client.execute("SHOW statement_timeout").fetchone(), (expected,))
            server.close()

    def test_administrators_come_in_when_all_other_places_are_taken(self):
        server = Server(self.users, ("--max-connections", "20"))
        clients = [connect(server, user="eve", password="secret") for _ in range(18)]
        with self.assertRaisesRegex(psycopg.OperationalError, "as many clients as the server takes"):
            connect(server, user="bob", password="secret")
        for _ in range(2):
            clients.append(connect(server, password="secret"))
        with self.assertRaisesRegex(psycopg.OperationalError, "as many clients as the server takes"):
            connect(server, password="secret")
        for client in clients:
            client.close()
        server.close()


class Numbers(unittest.TestCase):
    def test_more_clients_than_there_may_be(self):
        server = Server(USERS, ("--max-connections", "3"))
        clients = [connect(server, password="secret") for _ in range(3)]
        with self.assertRaisesRegex(psycopg.OperationalError, "as many clients"):
            connect(server, password="secret")
        with self.assertRaisesRegex(psycopg.OperationalError, "password authentication failed"):
            connect(server, password="wrong")
        # Connections that are not logged in do not count.
        silent = [server.socket() for _ in range(10)]
        clients.pop().close()

        def is_let_in():
            with contextlib.suppress(psycopg.OperationalError):
                clients.append(connect(server, password="secret"))
                return True
            return False

        self.assertTrue(wait_until(is_let_in))
        for client in clients + silent:
            client.close()
        server.close()


class Crowds(WithServer):
    script = USERS
    options = ("--max-connections", "500")

    def scram_start(self, user):
        """A client that has begun to log in with SCRAM but has not sent its proof, and the server's challenge."""
        client = self.server.socket()
        client.sendall(startup(user))
        read_until(client, b"\0\0")
        first = b"n,,n=,r=abcdefgh"
        client.sendall(message(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(first)) + first))
        return client, client.recv(4096)[9:]

    def wrong_proof(self, challenge):
        nonce = challenge.split(b",")[0]
        return message(b"p", b"c=biws," + nonce + b",p=" + b"A" * 43 + b"=")

    def try_a_hundred(self):
        """Sends a hundred wrong passwords. Returns whether another user at the same address is let in before any of
        them is answered."""
        tries = [self.scram_start("ada") for _ in range(100)]
        start = time.monotonic()
        for client, challenge in tries:
            client.sendall(self.wrong_proof(challenge))
        connect(self.server, user="eve", password="secret").close()
        answered_before = select.select([client for client, _ in tries], [], [], 0)[0]
        answers = [read_all(client) for client, _ in tries]
        seconds = time.monotonic() - start
        self.assertGreater(seconds, 0.9)
        wrong = sum(b"C28P01" in answer for answer in answers)
        unseen = sum(b"C28000" in answer for answer in answers)
        self.assertEqual(wrong + unseen, 100)
        self.assertLess(wrong, 40 * max(1.0, seconds), "so many a second are looked at")
        for client, _ in tries:
            client.close()
        return not answered_before

    def test_wrong_passwords_by_the_hundred(self):
        # Answers take a second. If others had to wait for them, no login would ever be faster.
        self.assertTrue(wait_until(self.try_a_hundred), "others wait for the answers to wrong passwords")
        connect(self.server, password="secret").close()

    def test_bytes_that_come_one_at_a_time(self):
        before = descriptors(self.server)
        clients = [self.server.socket() for _ in range(200)]
        for byte in startup()[:-1]:
            for client in clients:
                client.sendall(bytes([byte]))
        with connect(self.server, password="secret") as connection:
            for n in range(200):
                self.assertEqual(connection.execute("SELECT %s + 1", (n,)).fetchone(), (n + 1,))
        for client in clients:
            client.close()
        # The server keeps some sessions for later clients.
        self.assertTrue(wait_until(lambda: descriptors(self.server) <= before + 8), descriptors(self.server))

    def test_the_silent_give_place(self):
        """Connections that are not logged in take half of the places per address. New ones replace the oldest."""
        clients = [self.server.socket() for _ in range(600)]
        connect(self.server, password="secret").close()
        self.assertEqual(clients[0].recv(10), b"")
        self.assertTrue(wait_until(lambda: descriptors(self.server) < 550), descriptors(self.server))
        for client in clients:
            client.close()

    def test_without_descriptors(self):
        """Without free descriptors connections wait, and the server does not spin until there are some again."""
        server = Server(TENSORS)
        with connect(server) as connection:
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (descriptors(server) + 10,) * 2)
            clients = [server.socket() for _ in range(30)]
            before = cpu_seconds(server.process.pid)
            time.sleep(1)
            self.assertLess(cpu_seconds(server.process.pid) - before, 0.3)
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))
            for client in clients:
                client.close()
            connect(server).close()
        server.close()

    def test_cancelling_needs_no_worker(self):
        server = Server(TENSORS, ("--statement-threads", "2"))
        connections = [connect(server) for _ in range(2)]
        for connection in connections:
            connection.pgconn.send_query(ENDLESS.encode())
        server.wait_for_state([connection.info.backend_pid for connection in connections], user="watcher")
        for connection in connections:
            self.assertIn(b"cancel", cancelled_answer(connection).error_message)
            connection.close()
        server.close()


class End(unittest.TestCase):
    def serve(self, *options):
        self.server = Server(TENSORS, options)
        self.addCleanup(self.server.folder.cleanup)
        self.addCleanup(self.server.process.stdout.close)
        self.addCleanup(self.server.process.wait)
        self.addCleanup(self.server.process.kill)
        return self.server

    def finish(self):
        """Waits for the end of the server."""
        self.assertEqual(self.server.process.wait(HANG_SECONDS), 0)

    def test_idle_clients_are_told(self):
        server = self.serve()
        with log_in(server) as idle, log_in(server) as busy:
            busy.sendall(message(b"Q", b"BEGIN; INSERT INTO t VALUES ('lost', 1)\0"))
            read_until(busy, b"Z\0\0\0\5T")
            before = descriptors(server)
            with server.socket() as silent:
                silent.sendall(b"\0\0")
                self.assertTrue(wait_until(lambda: descriptors(server) > before), "it is not taken")
                server.process.send_signal(signal.SIGTERM)
                for client in (idle, busy, silent):
                    self.assertIn(b"C57P01", read_all(client))
        self.finish()
        self.assertEqual(sorted(os.listdir(server.folder.name)), ["s.db"])  # the log has been merged into the database

    def refuses(self):
        try:
            self.server.socket().close()
        except ConnectionRefusedError:
            return True
        except OSError:  # it connected just before the end
            pass
        return False

    def run_at_the_end(self, statement, *signals):
        """Runs a statement, and sends signals while it runs. Returns the answer, and the seconds from the first signal
        to it. After each signal the server refuses connections."""
        with contextlib.closing(connect(self.server)) as connection:
            watcher = self.enterContext(contextlib.closing(connect(self.server, user="watcher")))
            session = connection.info.backend_pid
            is_active = f"SELECT COUNT(*) FROM pg_stat_activity WHERE pid = {session} AND state = 'active'"
            connection.pgconn.send_query(statement.encode())
            # The statement may also end before it is seen to run.
            wait_until(lambda: watcher.execute(is_active).fetchone() == (1,) or has_answer(connection))
            start = time.monotonic()
            for sent in signals:
                self.server.process.send_signal(sent)
                self.assertTrue(wait_until(self.refuses))
            result = connection.pgconn.get_result()
            return result, time.monotonic() - start

    def test_statements_that_run_may_end(self):
        self.serve("--shutdown-grace", "1h")
        slow = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3000000) SELECT COUNT(*) FROM c"
        result, _ = self.run_at_the_end(slow, signal.SIGTERM)
        self.assertEqual(result.get_value(0, 0), b"3000000")
        self.finish()

    def test_statements_that_take_too_long_are_cancelled(self):
        self.serve("--shutdown-grace", "500ms")
        result, seconds = self.run_at_the_end(ENDLESS, signal.SIGTERM)
        self.assertIn(b"cancel", result.error_message)
        self.assertGreater(seconds, 0.4)
        self.finish()

    def test_a_second_signal_cancels_at_once(self):
        self.serve("--shutdown-grace", "1h")
        result, _ = self.run_at_the_end(ENDLESS, signal.SIGTERM, signal.SIGINT)
        self.assertIn(b"cancel", result.error_message)
        self.finish()

    def test_who_does_not_read_does_not_keep_it(self):
        server = self.serve("--shutdown-grace", "300ms")
        with log_in(server) as client:
            client.sendall(message(b"Q", b"EINSUM Z[i 3000, j 3000] = i\0"))
            client.recv(1)  # the result has begun to arrive
            server.process.send_signal(signal.SIGTERM)
            self.finish()


if __name__ == "__main__":
    unittest.main(verbosity=1)
