"""Tests many clients of one server: concurrent transactions, and heavy statements that wait for their turn.

    concurrency_test.py EINDB
"""

import contextlib
import json
import os
import re
import tempfile
import threading
import time
import unittest

import psycopg
from psycopg import errors
from psycopg.pq import DiagnosticField, ExecStatus

from served import Server, WithServer
from waiting import wait_until

TABLES = """
CREATE TABLE t (n INTEGER);
INSERT INTO t VALUES (1);
CREATE TENSOR X AS EINSUM X[i 4] = i;
"""
# The statement takes some hundred milliseconds on one core, and its tensors take 16 MB each.
MATRICES = "CREATE TENSOR A AS EINSUM A[i 1400, j 1400] = RANDN(1); CREATE TENSOR T AS EINSUM T[l 1000] = l;"
HEAVY = "EINSUM s = SUM(A[i,j] * A[j,k] * SIN(A[i,k]))"
# The statement takes hours, in small steps, so that others wait for it.
STEPS = "SET parallelism = 4096"
ENDLESS = "EINSUM R[i,k] = SUM(SIN(A[i,j] * A[j,k] * T[l]))"


class Concurrent(WithServer):
    def connect(self, **more):
        connection = psycopg.connect(**self.server.arguments(**more), autocommit=True)
        self.addCleanup(connection.close)
        return connection


class Transactions(Concurrent):
    script = TABLES

    def setUp(self):
        self.one, self.two = self.connect(), self.connect()
        self.two.execute("DELETE FROM t")
        self.two.execute("INSERT INTO t VALUES (1)")

    def test_readers_see_one_state_while_somebody_writes(self):
        readers = [self.connect() for _ in range(8)]
        for reader in readers:
            reader.execute("BEGIN")
            self.assertEqual(reader.execute("SELECT SUM(n) FROM t").fetchone(), (1,))
            self.assertEqual(reader.execute("EINSUM s = SUM(X[i])").fetchone(), (6.0,))
        self.two.execute("BEGIN")
        self.two.execute("INSERT INTO t VALUES (10)")
        self.two.execute("INSERT INTO TENSOR X VALUES (0, 100)")
        for reader in readers:
            self.assertEqual(reader.execute("SELECT SUM(n) FROM t").fetchone(), (1,))
        self.assertEqual(self.two.execute("SELECT SUM(n) FROM t").fetchone(), (11,))
        self.two.execute("COMMIT")
        for reader in readers:
            self.assertEqual(reader.execute("SELECT SUM(n) FROM t").fetchone(), (1,))
            self.assertEqual(reader.execute("EINSUM s = SUM(X[i])").fetchone(), (6.0,))
            reader.execute("COMMIT")
            self.assertEqual(reader.execute("SELECT SUM(n) FROM t").fetchone(), (11,))
            self.assertEqual(reader.execute("EINSUM s = SUM(X[i])").fetchone(), (106.0,))
        self.two.execute("INSERT INTO TENSOR X VALUES (0, 0)")

    def test_a_second_writer_waits_for_the_first(self):
        self.one.execute("BEGIN")
        self.one.execute("INSERT INTO t VALUES (2)")
        order = []

        def commit():
            order.append("commit")
            self.one.execute("COMMIT")

        later = threading.Timer(0.5, commit)
        later.start()
        self.two.execute("INSERT INTO t VALUES (3)")
        order.append("insert")
        later.join()
        self.assertEqual(order, ["commit", "insert"])
        self.assertEqual(self.two.execute("SELECT SUM(n) FROM t").fetchone(), (6,))

    def test_a_second_writer_waits_only_so_long(self):
        self.one.execute("BEGIN")
        self.one.execute("INSERT INTO t VALUES (2)")
        start = time.monotonic()
        for statement in ("INSERT INTO t VALUES (3)", "INSERT INTO TENSOR X VALUES (0, 1)"):
            with self.assertRaises(errors.LockNotAvailable) as caught:
                self.two.execute(statement)
            self.assertIn("another connection writes", caught.exception.diag.message_hint)
        self.assertGreater(time.monotonic() - start, 9)
        self.assertEqual(self.two.execute("SELECT SUM(n) FROM t").fetchone(), (1,))
        self.one.execute("ROLLBACK")
        self.two.execute("INSERT INTO t VALUES (3)")

    def test_who_writes_on_an_old_state_is_told_to_begin_again(self):
        for write in ("INSERT INTO t VALUES (4)", "INSERT INTO TENSOR X VALUES (0, 0)", "UPDATE TENSOR X[i] = 0",
                      "CREATE TENSOR N (i 2)"):
            self.one.execute("BEGIN")
            self.one.execute("SELECT * FROM t").fetchall()
            self.two.execute("INSERT INTO t VALUES (3)")
            with self.assertRaises(errors.SerializationFailure, msg=write) as caught:
                self.one.execute(write)
            self.assertIn("run the transaction again", caught.exception.diag.message_hint)
            self.one.execute("ROLLBACK")

    def test_lists_of_the_database_are_of_the_transactions_state(self):
        for first in ("SHOW TENSORS", "SHOW MACROS", "DESCRIBE X", "SELECT COUNT(*) FROM t", "EINSUM Z[] = SUM(X[i])"):
            reader, writer = self.connect(), self.connect()
            reader.execute("BEGIN")
            reader.execute(first)
            writer.execute("CREATE TENSOR Later (i 2)")
            names = [row[0] for row in reader.execute("SHOW TENSORS").fetchall()]
            self.assertIn("X", names, first)
            self.assertNotIn("Later", names, first)
            with self.assertRaises(errors.UndefinedTable, msg=first):
                reader.execute("DESCRIBE Later")
            reader.execute("ROLLBACK")
            self.assertIn("Later", [row[0] for row in reader.execute("SHOW TENSORS").fetchall()], first)
            writer.execute("DROP TENSOR Later")

    def test_a_setting_that_is_shown_does_not_fix_the_state(self):
        reader, writer = self.connect(), self.connect()
        reader.execute("BEGIN")
        reader.execute("SHOW tile_bytes")
        writer.execute("CREATE TENSOR Later (i 2)")
        self.assertIn("Later", [row[0] for row in reader.execute("SHOW TENSORS").fetchall()])
        reader.execute("ROLLBACK")
        writer.execute("DROP TENSOR Later")

    def test_who_has_read_and_writes_while_others_do_is_told_to_begin_again(self):
        reader, writer = self.connect(), self.connect()
        for statement in ("INSERT INTO t VALUES (2)", "CREATE TENSOR Mine (i 2)",
                          "INSERT INTO TENSOR X VALUES (0, 5)"):  # fmt: skip
            writer.execute("BEGIN")
            writer.execute("INSERT INTO t VALUES (1)")
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM t").fetchone()
            with self.assertRaises(errors.SerializationFailure, msg=statement) as caught:
                reader.execute(statement)
            self.assertIn("run the transaction again", str(caught.exception))
            reader.execute("ROLLBACK")
            writer.execute("ROLLBACK")

    def test_sessions_have_their_own_errors_settings_and_tables(self):
        self.one.execute("SET memory_limit = '64MiB'")
        self.one.execute("CREATE TEMP TABLE mine (a)")
        self.one.execute("PREPARE mine AS EINSUM s = SUM(X[i])")
        self.one.execute("BEGIN")
        with self.assertRaises(psycopg.Error):
            self.one.execute("SELECT nope")
        with self.assertRaises(errors.InFailedSqlTransaction):
            self.one.execute("SELECT 1")
        self.assertEqual(self.two.execute("SELECT 1").fetchone(), (1,))
        self.assertNotEqual(self.two.execute("SHOW memory_limit").fetchone(), ("67108864",))
        for statement in ("SELECT * FROM mine", "EXECUTE mine"):
            with self.assertRaises(psycopg.Error):
                self.two.execute(statement)
        self.one.execute("ROLLBACK")
        self.one.execute("SELECT * FROM mine")
        self.assertEqual(self.one.execute("EXECUTE mine").fetchone(), (6.0,))
        self.one.close()
        for _ in range(20):
            with self.assertRaises(psycopg.Error):
                self.connect().execute("SELECT * FROM mine")

    def test_writers_lose_nothing(self):
        """Many clients increment one row, and no increment is lost. Clients with old snapshots repeat transactions."""
        self.two.execute("UPDATE t SET n = 0")

        def count():
            with psycopg.connect(**self.server.arguments(), autocommit=True) as connection:
                for _ in range(20):
                    while True:
                        try:
                            with connection.transaction():
                                (n,) = connection.execute("SELECT n FROM t").fetchone()
                                connection.execute("UPDATE t SET n = %s", (n + 1,))
                            break
                        except (errors.SerializationFailure, errors.LockNotAvailable):
                            pass

        threads = [threading.Thread(target=count) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.two.execute("SELECT n FROM t").fetchone(), (100,))


class Clients:
    """Connections that repeat a statement, each in a thread, until the end of the block."""

    def __init__(self, server, statement, count, user):
        self.done = [0] * count
        self.errors = []
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(server, statement, user, n)) for n in range(count)]

    def _run(self, server, statement, user, number):
        with psycopg.connect(**server.arguments(user=user), autocommit=True) as connection:
            while not self._ends.is_set():
                try:
                    connection.execute(statement).fetchall()
                except psycopg.Error as error:
                    self.errors.append(str(error))
                    return
                self.done[number] += 1

    def wait_for(self, answers):
        """Waits until each connection has had this many answers, or one an error. Returns False after a hang."""
        return wait_until(lambda: self.errors or min(self.done) >= answers)

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        for thread in self._threads:
            thread.join()


class Endless:
    """A connection that runs an endless statement when it is its turn. Only then it receives progress notices."""

    def __init__(self, server, user):
        self._connection = psycopg.connect(**server.arguments(user=user), autocommit=True)
        self._connection.execute(STEPS)
        self._connection.execute("SET progress_notices = on")
        self._connection.add_notice_handler(self._hear)
        self.heard = 0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _hear(self, _):
        self.heard += 1

    def _run(self):
        with contextlib.suppress(errors.QueryCanceled):
            self._connection.execute(ENDLESS)

    @property
    def session(self):
        return self._connection.info.backend_pid

    def runs(self):
        """Whether the statement has not ended."""
        return self._thread.is_alive()

    def wait_for_turn(self):
        return wait_until(lambda: self.heard > 0)

    def end(self):
        """Cancels the statement, repeatedly, since it may not have begun."""
        def has_ended():
            self._connection.cancel()
            self._thread.join(0.1)
            return not self._thread.is_alive()

        assert wait_until(has_ended), "a statement is not cancelled"

    def close(self):
        self.end()
        self._connection.close()


class HeavyStatements(Concurrent):
    script = MATRICES
    options = ("--memory-limit", "512MiB", "--statement-threads", "4", "--heavy", "2")

    def endless(self, user):
        client = Endless(self.server, user)
        self.addCleanup(client.close)
        return client

    def test_small_statements_do_not_wait_for_heavy_ones(self):
        """Each of many small clients gets all of its answers while endless heavy statements run, and others wait."""
        running = [self.endless("heavy") for _ in range(2)]
        self.assertTrue(all(client.wait_for_turn() for client in running))
        waiting = [self.endless("heavy") for _ in range(6)]
        self.server.wait_for_state([client.session for client in waiting], user="watcher")
        with Clients(self.server, "SELECT 1", 8, "small") as small:
            self.assertTrue(small.wait_for(100), small.done)
        self.assertEqual(small.errors, [])
        self.assertTrue(all(client.runs() for client in running + waiting))

    def test_no_more_heavy_statements_run_than_may(self):
        clients = [self.endless(f"user{n}") for n in range(6)]
        self.server.wait_for_state([client.session for client in clients], user="watcher")

        def heard():
            return sorted(client.heard for client in clients)

        # Running statements send notices every half second, waiting ones send none.
        for _ in range(3):
            before = heard()
            self.assertTrue(wait_until(lambda: sum(heard()[-2:]) >= sum(before[-2:]) + 6))
            self.assertEqual(heard()[:-2], [0] * (len(clients) - 2))
            ended = max(clients, key=lambda client: client.heard)
            ended.end()
            clients.remove(ended)
            self.assertTrue(wait_until(lambda: heard()[-2] > 0), "another one has its turn")

    def test_memory_is_that_of_the_server(self):
        status = f"/proc/{self.server.process.pid}/status"
        most = 0

        def look():
            nonlocal most
            with open(status) as file:
                most = max(most, int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1]))
            return clients.errors or sum(clients.done) >= 32

        with Clients(self.server, HEAVY, 16, "greedy") as clients:
            self.assertTrue(wait_until(look), clients.done)
        self.assertEqual(clients.errors, [])
        print(f"memory of 16 clients: {most >> 10} MiB, of 512")
        self.assertLess(most >> 10, 512 + 64)


class Turns(unittest.TestCase):
    options = ("--memory-limit", "512MiB", "--statement-threads", "4", "--heavy", "1")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = os.path.join(folder.name, "log")
        options = (*self.options, "--log", self.log, "--log-format", "json", "--log-statements", "all")
        self.server = Server(MATRICES, options)
        self.addCleanup(self.server.close)

    def users_of_logged_statements(self):
        with open(self.log, encoding="ascii") as log:
            events = [json.loads(line) for line in log if line.endswith("\n")]
        return [event["user"] for event in events if event["event"] == "statement" and event["statement"] == HEAVY]

    def test_users_take_turns(self):
        """Users take turns. One heavy statement runs at a time, so the log lists them in the order of their turns."""
        first = Endless(self.server, "first")
        self.addCleanup(first.close)
        self.assertTrue(first.wait_for_turn())
        with contextlib.ExitStack() as open_clients:
            connections = []
            for user, count in (("greedy", 12), ("modest", 3)):
                own = [psycopg.connect(**self.server.arguments(user=user), autocommit=True) for _ in range(count)]
                for connection in own:
                    open_clients.callback(connection.close)
                    connection.pgconn.send_query(HEAVY.encode())
                self.server.wait_for_state([connection.info.backend_pid for connection in own], user="watcher")
                connections += own
            # A statement that is seen as active may not have joined its queue yet.
            time.sleep(0.5)
            first.end()
            for connection in connections:
                self.assertEqual(connection.pgconn.get_result().status, ExecStatus.TUPLES_OK)
        # A result can reach its client before the statement is logged.
        self.assertTrue(wait_until(lambda: len(self.users_of_logged_statements()) >= 15))
        order = self.users_of_logged_statements()
        print(f"turns: {' '.join(order)}")
        self.assertEqual(sorted(order), ["greedy"] * 12 + ["modest"] * 3)
        # The modest user needs six turns. Some more are allowed for late statements. Without turns it would be last.
        self.assertLess(max(n for n, user in enumerate(order) if user == "modest"), 12)


class Waiting(Concurrent):
    script = MATRICES
    options = ("--memory-limit", "256MiB", "--statement-threads", "2", "--heavy", "1")

    def setUp(self):
        self.running = Endless(self.server, "ada")
        self.addCleanup(self.running.close)
        self.assertTrue(self.running.wait_for_turn())

    def cancel(self, connection, thread):
        """Cancels the statement, repeatedly, since it may not have begun."""
        def has_ended():
            connection.cancel()
            thread.join(0.1)
            return not thread.is_alive()

        self.assertTrue(wait_until(has_ended), "a statement that waits is not cancelled")

    def start(self, connection, statement, found):
        def run():
            try:
                connection.execute(statement)
            except psycopg.Error as error:
                found.append(error.sqlstate)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def test_who_waits_can_be_cancelled(self):
        found = []
        waiting = [self.connect() for _ in range(6)]  # more than there are threads for statements
        threads = [self.start(connection, HEAVY, found) for connection in waiting]
        self.server.wait_for_state([connection.info.backend_pid for connection in waiting], user="watcher")
        self.assertEqual(found, [])
        self.assertEqual(self.connect().execute("SELECT 1").fetchone(), (1,))
        for connection, thread in zip(waiting, threads):
            self.cancel(connection, thread)
        self.assertTrue(self.running.runs(), "they did not have their turn")
        self.assertEqual(found, ["57014"] * 6)

    def test_waiting_counts_as_time_of_the_statement(self):
        connection = self.connect()
        connection.execute("SET statement_timeout = '300ms'")
        with self.assertRaises(errors.QueryCanceled):
            connection.execute(HEAVY)
        self.assertTrue(self.running.runs(), "it did not have its turn")

    def test_a_client_that_leaves_leaves_the_line(self):
        found = []
        waiting = self.connect()
        thread = self.start(waiting, HEAVY, found)
        self.server.wait_for_state([waiting.info.backend_pid], user="watcher")
        self.cancel(waiting, thread)
        self.running.end()
        self.assertEqual(self.connect().execute(HEAVY).rowcount, 1)

    def test_the_server_ends_while_statements_wait(self):
        server = Server(MATRICES, [*self.options, "--shutdown-grace", "1s"])
        found = []
        connections = [psycopg.connect(**server.arguments(), autocommit=True) for _ in range(4)]
        threads = [self.start(connection, ENDLESS, found) for connection in connections]
        server.wait_for_state([connection.info.backend_pid for connection in connections], user="watcher")
        server.close()
        for thread in threads:
            thread.join()


class Values(Concurrent):
    options = ("--memory-limit", "128MiB")

    def test_values_larger_than_the_memory_are_refused(self):
        other = self.connect()
        for statement in ("SELECT length(hex(zeroblob(200000000)))", "SELECT length(randomblob(200000000))"):
            with self.assertRaises(errors.OutOfMemory):
                self.connect().execute(statement)
            self.assertEqual(other.execute("SELECT 1").fetchone(), (1,))
        self.assertEqual(other.execute("SELECT length(hex(zeroblob(1000000)))").fetchone(), (2000000,))


class Results(Concurrent):
    script = MATRICES
    options = ("--memory-limit", "64MiB", "--heavy", "2")

    def begin(self):
        """(client, result) of a client that fetches one row of a large result. The result is that row, or an error."""
        client = psycopg.connect(**self.server.arguments())
        self.addCleanup(client.close)
        client.pgconn.send_query(b"EINSUM Z[i,k] = A[i,k] * 2")
        client.pgconn.set_single_row_mode()
        return client, client.pgconn.get_result()

    def test_results_that_nobody_fetches_are_not_waited_for(self):
        """Results that clients do not fetch hold memory. A statement that would wait for it is refused, and succeeds
        when those clients have left."""
        begun = []
        for _ in range(10):
            client, result = self.begin()
            if result.status != ExecStatus.SINGLE_TUPLE:
                break
            begun.append(client)
        self.assertEqual(result.error_field(DiagnosticField.SQLSTATE), b"53200")
        self.assertIn(b"fetch or close", result.error_field(DiagnosticField.MESSAGE_HINT))
        self.assertGreater(len(begun), 0)
        for client in begun:
            client.close()
        self.assertTrue(wait_until(lambda: self.begin()[1].status == ExecStatus.SINGLE_TUPLE),
                        "memory of clients that left has not come back")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
