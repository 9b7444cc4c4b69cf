"""Many clients of one server: transactions beside each other, and heavy statements that wait for their turn.

    concurrency_test.py EINDB
"""

import contextlib
import re
import threading
import time
import unittest

import psycopg
from psycopg import errors
from psycopg.pq import DiagnosticField, ExecStatus

from served import Server, WithServer

TABLES = """
CREATE TABLE t (n INTEGER);
INSERT INTO t VALUES (1);
CREATE TENSOR X AS EINSUM X[i 4] = i;
"""
# Some hundred milliseconds on one core; its tensors take 16 MB each.
MATRICES = "CREATE TENSOR A AS EINSUM A[i 1400, j 1400] = RANDN(1);"
HEAVY = "EINSUM s = SUM(A[i,j] * A[j,k] * SIN(A[i,k]))"
# Minutes: for those who are to wait behind it.
ENDLESS = "EINSUM s = SUM(SIN(A[i,j] + A[k,l]))"


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
        later = threading.Timer(0.5, lambda: self.one.execute("COMMIT"))
        later.start()
        start = time.monotonic()
        self.two.execute("INSERT INTO t VALUES (3)")
        self.assertGreater(time.monotonic() - start, 0.4)
        later.join()
        self.assertEqual(self.two.execute("SELECT SUM(n) FROM t").fetchone(), (6,))

    def test_a_second_writer_waits_only_so_long(self):
        self.one.execute("BEGIN")
        self.one.execute("INSERT INTO t VALUES (2)")
        start = time.monotonic()
        for statement in ("INSERT INTO t VALUES (3)", "INSERT INTO TENSOR X VALUES (0, 1)"):
            with self.assertRaises(errors.LockNotAvailable) as caught:
                self.two.execute(statement)
            self.assertIn("another connection writes", caught.exception.diag.message_hint)
        self.assertTrue(9 < time.monotonic() - start < 30)
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
        """Many clients count on one row; those whose state is old begin again."""
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
    """Connections that run a statement over and over, each in a thread, until the end of the block."""

    def __init__(self, server, statement, count, user):
        self.done = 0
        self.seconds = []
        self.errors = []
        self._ends = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(server, statement, user)) for _ in range(count)]

    def _run(self, server, statement, user):
        with psycopg.connect(**server.arguments(user=user), autocommit=True) as connection:
            while not self._ends.is_set():
                start = time.monotonic()
                try:
                    connection.execute(statement).fetchall()
                except psycopg.Error as error:
                    self.errors.append(str(error))
                    return
                with self._lock:
                    self.done += 1
                    self.seconds.append(time.monotonic() - start)

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def p99(self):
        return sorted(self.seconds)[int(len(self.seconds) * 0.99)]


class HeavyStatements(Concurrent):
    script = MATRICES
    options = ("--memory-limit", "512MiB", "--statement-threads", "4", "--heavy", "2")

    def test_small_statements_do_not_wait_for_heavy_ones(self):
        with Clients(self.server, "SELECT 1", 8, "small") as alone:
            time.sleep(1)
        with Clients(self.server, HEAVY, 8, "heavy") as heavy, Clients(self.server, "SELECT 1", 8, "small") as beside:
            time.sleep(4)
        self.assertEqual(heavy.errors + beside.errors, [])
        self.assertGreater(heavy.done, 0)
        print(f"p99 of SELECT 1: {alone.p99() * 1e3:.1f} ms alone, {beside.p99() * 1e3:.1f} ms beside heavy statements")
        self.assertLess(beside.p99(), max(0.1, 10 * alone.p99()))

    def test_users_take_turns(self):
        with Clients(self.server, HEAVY, 12, "greedy") as greedy, Clients(self.server, HEAVY, 1, "modest") as modest:
            time.sleep(5)
            of_greedy, of_modest = greedy.done, modest.done
        self.assertEqual(greedy.errors + modest.errors, [])
        print(f"heavy statements done: {of_greedy} of twelve connections of one user, {of_modest} of another's one")
        self.assertGreaterEqual(of_modest, of_greedy / 6)

    def test_memory_is_that_of_the_server(self):
        status = f"/proc/{self.server.process.pid}/status"
        most = 0
        with Clients(self.server, HEAVY, 16, "greedy") as clients:
            end = time.monotonic() + 4
            while time.monotonic() < end:
                with open(status) as file:
                    most = max(most, int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1]))
                time.sleep(0.01)
        self.assertEqual(clients.errors, [])
        print(f"memory of 16 clients: {most >> 10} MiB, of 512")
        self.assertLess(most >> 10, 512 + 64)


class Waiting(Concurrent):
    script = MATRICES
    options = ("--memory-limit", "256MiB", "--statement-threads", "2", "--heavy", "1")

    def setUp(self):
        self.running = self.connect()
        self.thread = threading.Thread(target=self.run_for_long)
        self.thread.start()
        time.sleep(0.5)

    def tearDown(self):
        self.running.cancel()
        self.thread.join()

    def run_for_long(self):
        with contextlib.suppress(errors.QueryCanceled):
            self.running.execute(ENDLESS)

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
        waiting = [self.connect() for _ in range(6)]  # more than there are workers
        threads = [self.start(connection, HEAVY, found) for connection in waiting]
        time.sleep(0.3)
        self.assertEqual(found, [])
        self.assertEqual(self.connect().execute("SELECT 1").fetchone(), (1,))
        start = time.monotonic()
        for connection in waiting:
            connection.cancel()
        for thread in threads:
            thread.join()
        self.assertLess(time.monotonic() - start, 3)
        self.assertEqual(found, ["57014"] * 6)

    def test_waiting_counts_as_time_of_the_statement(self):
        connection = self.connect()
        connection.execute("SET statement_timeout = '300ms'")
        start = time.monotonic()
        with self.assertRaises(errors.QueryCanceled):
            connection.execute(HEAVY)
        self.assertLess(time.monotonic() - start, 5)

    def test_a_client_that_leaves_leaves_the_line(self):
        found = []
        waiting = self.connect()
        thread = self.start(waiting, HEAVY, found)
        time.sleep(0.2)
        waiting.cancel()
        thread.join()
        self.running.cancel()
        self.thread.join()
        self.assertEqual(self.connect().execute(HEAVY).rowcount, 1)

    def test_the_server_ends_while_statements_wait(self):
        server = Server(MATRICES, [*self.options, "--shutdown-grace", "1s"])
        found = []
        connections = [psycopg.connect(**server.arguments(), autocommit=True) for _ in range(4)]
        threads = [self.start(connection, ENDLESS, found) for connection in connections]
        time.sleep(0.5)
        start = time.monotonic()
        server.close()
        self.assertLess(time.monotonic() - start, 5)
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
        """A client that has fetched one row of a large result, and what came: the row, or an error."""
        client = psycopg.connect(**self.server.arguments())
        self.addCleanup(client.close)
        client.pgconn.send_query(b"EINSUM Z[i,k] = A[i,k] * 2")
        client.pgconn.set_single_row_mode()
        return client, client.pgconn.get_result()

    def test_results_that_nobody_fetches_are_not_waited_for(self):
        """Clients hold what they have not fetched: who would wait for it is told so, and goes on when they leave."""
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
        deadline = time.monotonic() + 10
        while self.begin()[1].status != ExecStatus.SINGLE_TUPLE:
            self.assertLess(time.monotonic(), deadline, "memory of clients that left has not come back")
            time.sleep(0.1)


if __name__ == "__main__":
    unittest.main()
