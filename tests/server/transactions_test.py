"""Transactions of the server's clients: READ ONLY ones, and savepoints that rescue what has failed.

    transactions_test.py EINDB
"""

import asyncio
import unittest

import asyncpg
import psycopg
import psycopg2
import psycopg2.extensions

from served import TENSORS, WithServer

READ_ONLY = "25006"
WRITES = (
    "INSERT INTO t VALUES ('c', 3)",
    "WITH c AS (SELECT 3 AS n) INSERT INTO t SELECT 'c', n FROM c",
    "UPDATE t SET n = 3",
    "DELETE FROM t",
    "CREATE TABLE u (n INTEGER)",
    "CREATE TABLE u AS SELECT 1 AS n",
    "CREATE INDEX i ON t (n)",
    "CREATE VIEW v AS SELECT 1 AS n",
    "ALTER TABLE t ADD COLUMN m INTEGER",
    "DROP TABLE t",
    "CREATE TENSOR Y (i 2)",
    "CREATE OR REPLACE TENSOR X AS EINSUM X[i 2] = i",
    "UPDATE TENSOR X[i,j] = 1",
    "INSERT INTO TENSOR X VALUES (0, 0, 1)",
    "ALTER TENSOR X RENAME TO Y",
    "ANALYZE TENSOR X",
    "DROP TENSOR X",
    "CREATE MACRO twice(x) AS 2 * x",
    "REPEAT 2 { UPDATE TENSOR X[i,j] = X[i,j] + 1; }",
)


class WithConnection(WithServer):
    script = TENSORS + "CREATE TABLE log (n INTEGER);"

    def setUp(self):
        self.connection = psycopg.connect(**self.server.arguments(), autocommit=True)
        self.execute = self.connection.execute
        self.execute("DELETE FROM log")

    def tearDown(self):
        self.connection.close()

    def refused(self, sqlstate, statement, *parameters):
        with self.assertRaises(psycopg.Error) as caught:
            self.execute(statement, *parameters)
        self.assertEqual(caught.exception.sqlstate, sqlstate, f"{statement}: {caught.exception}")

    def one(self, query):
        return self.execute(query).fetchone()[0]

    def log(self):
        return [n for (n,) in self.execute("SELECT n FROM log ORDER BY n")]

    def status(self):
        return self.connection.info.transaction_status.name


class ReadOnly(WithConnection):
    def test_every_write_is_refused(self):
        for begin in (
            "BEGIN READ ONLY",
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            "START TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE, DEFERRABLE",
        ):
            for write in WRITES:
                with self.subTest(begin=begin, write=write):
                    self.execute(begin)
                    self.assertEqual(self.one("SELECT COUNT(*) FROM t"), 2)
                    self.refused(READ_ONLY, write)
                    self.execute("ROLLBACK")
        self.assertEqual(self.one("SELECT SUM(n) FROM t"), 3)
        self.assertEqual(self.one("EINSUM s[] = SUM(X[i,j])"), 33.0)

    def test_the_first_statement_may_be_the_write(self):
        self.execute("BEGIN READ ONLY")
        self.refused(READ_ONLY, "INSERT INTO log VALUES (1)")
        self.execute("ROLLBACK")
        self.assertEqual(self.log(), [])

    def test_rows_of_copy_are_refused(self):
        for target in ("log", "X"):
            self.execute("BEGIN READ ONLY")
            with self.assertRaises(psycopg.errors.ReadOnlySqlTransaction):
                with self.connection.cursor().copy(f"COPY {target} FROM STDIN") as copy:
                    copy.write("1\n")
            self.execute("ROLLBACK")
        self.execute("BEGIN READ ONLY")
        with self.connection.cursor().copy("COPY t TO STDOUT") as copy:
            self.assertEqual(b"".join(copy), b"a\t1\nb\t2\n")
        self.execute("COMMIT")

    def test_set_transaction(self):
        self.execute("BEGIN")
        self.execute("SET TRANSACTION READ ONLY")
        self.assertEqual(self.one("SHOW transaction_read_only"), "on")
        self.refused(READ_ONLY, "INSERT INTO log VALUES (1)")
        self.execute("ROLLBACK")
        self.assertEqual(self.one("SHOW transaction_read_only"), "off")
        self.execute("BEGIN")
        self.execute("INSERT INTO log VALUES (2)")
        self.execute("SET transaction_read_only = on")
        self.refused(READ_ONLY, "INSERT INTO log VALUES (3)")
        self.execute("ROLLBACK")
        self.execute("BEGIN READ ONLY")
        self.execute("SET TRANSACTION READ WRITE")
        self.execute("INSERT INTO log VALUES (4)")
        self.execute("COMMIT")
        self.assertEqual(self.log(), [4])
        self.execute("BEGIN READ ONLY")
        self.one("SELECT COUNT(*) FROM log")
        self.refused("25001", "SET TRANSACTION READ WRITE")
        self.execute("ROLLBACK")
        self.refused("25P01", "SET TRANSACTION READ ONLY")
        self.refused("25P01", "SET transaction_read_only TO on")

    def test_modes_that_are_none_are_refused(self):
        for statement in ("BEGIN READ", "BEGIN READ ONLY,", "BEGIN ONLY READ", "SET TRANSACTION SNAPSHOT 'x'",
                          "SET TRANSACTION ISOLATION LEVEL CHAOS", "SET SESSION CHARACTERISTICS AS TRANSACTION",
                          "SET SESSION CHARACTERISTICS AS TRANSACTION READ"):  # fmt: skip
            with self.subTest(statement):
                self.refused("42601", statement)
                self.assertEqual(self.status(), "IDLE")
        self.refused("22023", "SET default_transaction_isolation = 'chaos'")
        self.refused("22023", "SET default_transaction_read_only = 'maybe'")

    def test_the_default_holds_for_statements_without_a_transaction(self):
        self.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
        self.assertEqual(self.one("SHOW default_transaction_read_only"), "on")
        self.assertEqual(self.connection.info.parameter_status("default_transaction_read_only"), "on")
        for write in WRITES:
            with self.subTest(write):
                self.refused(READ_ONLY, write)
                self.assertEqual(self.status(), "IDLE")
        self.assertEqual(self.one("SELECT COUNT(*) FROM t"), 2)
        self.assertEqual(self.one("SELECT current_setting('transaction_read_only')"), "on")
        self.assertEqual(self.status(), "IDLE")
        self.execute("BEGIN")
        self.refused(READ_ONLY, "INSERT INTO log VALUES (1)")
        self.execute("ROLLBACK")
        self.execute("BEGIN READ WRITE")
        self.execute("INSERT INTO log VALUES (2)")
        self.execute("COMMIT")
        self.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE")
        self.execute("INSERT INTO log VALUES (3)")
        self.execute("SET default_transaction_read_only = true")
        self.refused(READ_ONLY, "INSERT INTO log VALUES (4)")
        self.execute("RESET default_transaction_read_only")
        self.execute("INSERT INTO log VALUES (5)")
        self.assertEqual(self.log(), [2, 3, 5])

    def test_options_of_a_connection(self):
        with psycopg.connect(**self.server.arguments(options="-c default_transaction_read_only=on")) as connection:
            with self.assertRaises(psycopg.errors.ReadOnlySqlTransaction):
                connection.execute("INSERT INTO log VALUES (1)")

    def test_a_late_request_to_cancel_stops_nothing(self):
        with psycopg.connect(**self.server.arguments()) as connection:
            for turn in range(20):
                connection.execute(f"CREATE TABLE late{turn} (n int)")
                connection.cancel()  # what is to be cancelled has ended
                for number in range(3):
                    connection.execute(f"SELECT count(*) AS c{number} FROM late{turn}, log")
            connection.rollback()

    def test_levels_of_isolation_are_told_as_they_were_given(self):
        for level in ("SERIALIZABLE", "REPEATABLE READ", "READ COMMITTED", "READ UNCOMMITTED"):
            self.execute("BEGIN")
            self.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            self.assertEqual(self.one("SHOW TRANSACTION ISOLATION LEVEL"), level.lower())
            self.execute("COMMIT")
            self.execute(f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}")
            self.assertEqual(self.one("SHOW default_transaction_isolation"), level.lower())
            self.execute("RESET default_transaction_isolation")
            self.assertEqual(self.one("SHOW transaction_isolation"), "serializable")

    def test_other_zones_and_styles_of_dates_are_refused(self):
        for name, value in (("TimeZone", "Europe/Zurich"), ("DateStyle", "German"), ("DateStyle", "ISO, DMY"),
                            ("IntervalStyle", "iso_8601")):
            self.refused("0A000", f"SET {name} = '{value}'")
        for name, value in (("TimeZone", "UTC"), ("TimeZone", "etc/utc"), ("DateStyle", "ISO"),
                            ("IntervalStyle", "postgres")):
            self.execute(f"SET {name} = '{value}'")
            self.assertEqual(self.one(f"SHOW {name}"), value)
        # Drivers send those of their machine when they connect: they are told which hold.
        with psycopg.connect(**self.server.arguments(), options="-c DateStyle=ISO") as connection:
            self.assertEqual(connection.info.parameter_status("TimeZone"), "Etc/UTC")

    def test_chained_transactions_keep_their_modes(self):
        self.execute("BEGIN READ ONLY")
        self.execute("COMMIT AND CHAIN")
        self.assertEqual(self.status(), "INTRANS")
        self.refused(READ_ONLY, "INSERT INTO log VALUES (1)")
        self.execute("ROLLBACK AND CHAIN")
        self.assertEqual(self.status(), "INTRANS")
        self.refused(READ_ONLY, "INSERT INTO log VALUES (1)")
        self.execute("ROLLBACK AND NO CHAIN")
        self.refused("25P01", "COMMIT AND CHAIN")
        self.execute("INSERT INTO log VALUES (2)")
        self.assertEqual(self.log(), [2])

    def test_psycopg2(self):
        connection = psycopg2.connect(**self.server.arguments())
        for autocommit in (False, True):
            connection.rollback()
            connection.set_session(readonly=True, isolation_level="SERIALIZABLE", autocommit=autocommit)
            with self.assertRaises(psycopg2.errors.ReadOnlySqlTransaction):
                connection.cursor().execute("INSERT INTO log VALUES (1)")
            connection.rollback()
            connection.set_session(readonly=False, isolation_level="REPEATABLE READ", deferrable=True)
            connection.cursor().execute("INSERT INTO log VALUES (%s)", (7,))
            connection.commit()
            connection.readonly = None
            connection.isolation_level = None
            connection.deferrable = None
        self.assertEqual(self.log(), [7, 7])
        connection.close()

    def test_psycopg3(self):
        with psycopg.connect(**self.server.arguments()) as connection:
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.deferrable = True
            with self.assertRaises(psycopg.errors.ReadOnlySqlTransaction):
                connection.execute("INSERT INTO log VALUES (1)")
            connection.rollback()
            self.assertEqual(connection.execute("SHOW transaction_read_only").fetchone(), ("on",))
            connection.rollback()
            connection.read_only = False
            connection.execute("INSERT INTO log VALUES (8)")
        self.assertEqual(self.log(), [8])

    def test_asyncpg(self):
        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            with self.assertRaises(asyncpg.ReadOnlySQLTransactionError):
                async with connection.transaction(isolation="serializable", readonly=True, deferrable=True):
                    await connection.execute("INSERT INTO log VALUES (1)")
            async with connection.transaction(isolation="repeatable_read"):
                await connection.execute("INSERT INTO log VALUES (9)")
            await connection.close()

        asyncio.run(session())
        self.assertEqual(self.log(), [9])


class LocalSettings(WithConnection):
    def values(self):
        return [self.one(f"SHOW {name}") for name in ("statement_timeout", "threads", "application_name", "idle_session_timeout")]

    def test_they_end_with_the_transaction(self):
        self.execute("SET application_name = 'outer'")
        before = self.values()
        for end in ("COMMIT", "ROLLBACK"):
            self.execute("BEGIN")
            self.execute("SET LOCAL statement_timeout = '17s'")
            self.execute("SET LOCAL threads TO 1")
            self.execute("SET LOCAL application_name = 'inner'")
            self.execute("SET LOCAL idle_session_timeout = '5min'")
            self.assertEqual(self.values(), ["17000", "1", "inner", "5min"])
            self.assertEqual(self.connection.info.parameter_status("application_name"), "inner")
            self.execute("INSERT INTO log VALUES (1)")
            self.execute(end)
            self.assertEqual(self.values(), before)
            self.assertEqual(self.connection.info.parameter_status("application_name"), "outer")

    def test_what_is_set_besides_stays(self):
        self.execute("BEGIN")
        self.execute("SET LOCAL statement_timeout = '17s'")
        self.execute("SET LOCAL idle_session_timeout = '17s'")
        self.execute("SET threads = 1")
        self.execute("SET application_name = 'kept'")
        self.refused("22023", "SET threads = 'many'")
        self.assertEqual(self.execute("COMMIT").statusmessage, "ROLLBACK")
        self.assertEqual(self.values()[1:3], ["1", "kept"])
        self.assertEqual(self.one("SHOW idle_session_timeout"), "0")
        self.execute("RESET ALL")
        self.assertEqual(self.connection.info.parameter_status("application_name"), "")

    def test_outside_of_a_transaction_there_is_nothing_that_they_could_end_with(self):
        self.refused("25P01", "SET LOCAL statement_timeout = '17s'")
        self.refused("25P01", "SET LOCAL TIME ZONE 'UTC'")
        self.execute("BEGIN")
        self.refused("42704", "SET LOCAL statment_timeout = '17s'")
        self.execute("ROLLBACK")


class Warnings(WithConnection):
    def test_a_transaction_that_is_there_or_not(self):
        warnings = []
        self.connection.add_notice_handler(lambda notice: warnings.append((notice.sqlstate, notice.severity)))
        self.execute("BEGIN")
        self.execute("INSERT INTO log VALUES (1)")
        self.execute("BEGIN")
        self.assertEqual(self.status(), "INTRANS")
        self.execute("START TRANSACTION")
        self.execute("COMMIT")
        self.assertEqual(warnings, [("25001", "WARNING")] * 2)
        self.assertEqual(self.log(), [1])
        self.assertEqual(self.execute("COMMIT").statusmessage, "COMMIT")
        self.assertEqual(self.execute("ROLLBACK").statusmessage, "ROLLBACK")
        self.assertEqual(warnings[2:], [("25P01", "WARNING")] * 2)
        self.execute("SET client_min_messages = error")
        self.execute("ROLLBACK")
        self.assertEqual(len(warnings), 4)


class Savepoints(WithConnection):
    def test_outside_of_a_transaction(self):
        for statement in ("SAVEPOINT a", "RELEASE SAVEPOINT a", "RELEASE a", "ROLLBACK TO SAVEPOINT a", "ROLLBACK TO a"):
            self.refused("25P01", statement)
            self.assertEqual(self.status(), "IDLE")
        self.refused("25P01", "SELECT 1; SAVEPOINT a")
        self.execute("INSERT INTO log VALUES (1)")
        with psycopg.connect(**self.server.arguments()) as other:
            self.assertEqual(other.execute("SELECT n FROM log").fetchall(), [(1,)])

    def test_a_failed_transaction_is_rescued(self):
        self.execute("BEGIN")
        self.execute("INSERT INTO log VALUES (1)")
        self.execute("SAVEPOINT a")
        self.execute("INSERT INTO log VALUES (2)")
        self.refused("42P01", "EINSUM z[] = nowhere[]")
        for statement in ("SELECT 1", "SAVEPOINT b", "RELEASE a", "INSERT INTO log VALUES (3)", "SHOW timezone",
                          "SET TRANSACTION READ ONLY", "BEGIN"):  # fmt: skip
            self.refused("25P02", statement)
        self.refused("3B001", "ROLLBACK TO SAVEPOINT b")
        self.assertEqual(self.status(), "INERROR")
        self.assertEqual(self.execute("ROLLBACK TO SAVEPOINT a").statusmessage, "ROLLBACK")
        self.assertEqual(self.status(), "INTRANS")
        self.assertEqual(self.log(), [1])
        self.refused("42P01", "EINSUM z[] = nowhere[]")
        self.execute("ROLLBACK TO a")
        self.execute("INSERT INTO log VALUES (4)")
        self.assertEqual(self.execute("RELEASE a").statusmessage, "RELEASE")
        self.refused("3B001", "RELEASE a")
        self.assertEqual(self.execute("COMMIT").statusmessage, "ROLLBACK")
        self.assertEqual(self.log(), [])

    def test_a_savepoint_before_the_first_statement(self):
        self.execute("BEGIN")
        self.execute("SAVEPOINT a")
        self.execute("SAVEPOINT b")
        self.refused("42P01", "INSERT INTO TENSOR nowhere VALUES (1)")
        self.execute("ROLLBACK TO b")
        self.execute("INSERT INTO log VALUES (1)")
        self.execute("ROLLBACK TO a")
        self.refused("3B001", "RELEASE b")
        self.execute("ROLLBACK TO a")
        self.execute("INSERT INTO log VALUES (2)")
        self.execute("COMMIT")
        self.assertEqual(self.log(), [2])

    def test_writers_with_savepoints_wait_for_one_another(self):
        with psycopg.connect(**self.server.arguments()) as other:
            other.execute("SAVEPOINT a")
            self.execute("BEGIN")
            self.execute("SAVEPOINT a")
            self.execute("INSERT INTO log VALUES (1)")
            self.execute("COMMIT")
            other.execute("INSERT INTO log VALUES (2)")
        self.assertEqual(self.log(), [1, 2])

    def test_the_last_savepoint_of_a_name_counts(self):
        self.execute("BEGIN")
        for n in (1, 2, 3):
            self.execute("SAVEPOINT a")
            self.execute(f"INSERT INTO log VALUES ({n})")
        self.execute('SAVEPOINT "A"')
        self.execute("INSERT INTO log VALUES (4)")
        self.execute("ROLLBACK TO a")
        self.assertEqual(self.log(), [1, 2])
        self.refused("3B001", 'RELEASE "A"')
        self.execute("ROLLBACK TO a")
        self.execute("RELEASE a")
        self.execute("ROLLBACK TO a")
        self.assertEqual(self.log(), [1])
        self.execute("COMMIT")
        self.assertEqual(self.log(), [1])

    def test_tensors_follow(self):
        total = "EINSUM s[] = SUM(X[i,j])"
        self.execute("BEGIN")
        self.execute("UPDATE TENSOR X[i,j] = 1")
        self.execute("SAVEPOINT a")
        self.execute("UPDATE TENSOR X[i,j] = X[i,j] + 1")
        self.execute("CREATE TENSOR Y AS EINSUM Y[i 2] = i")
        self.assertEqual(self.one(total), 24.0)
        self.refused("42P01", "EINSUM s[] = SUM(Q[i,j])")
        self.execute("ROLLBACK TO a")
        self.assertEqual(self.one(total), 12.0)
        self.assertEqual(self.one("SELECT SUM(val) FROM X"), 12.0)
        self.refused("42P01", "EINSUM s[] = SUM(Y[i])")
        self.execute("ROLLBACK TO a")
        self.execute("UPDATE TENSOR X[i,j] = X[i,j] + 2")
        self.execute("RELEASE a")
        self.assertEqual(self.one(total), 36.0)
        self.execute("ROLLBACK")
        self.assertEqual(self.one(total), 33.0)

    def test_nested_blocks_of_psycopg3(self):
        with self.connection.transaction():
            self.execute("INSERT INTO log VALUES (1)")
            for n in (2, 3):
                with self.assertRaises(psycopg.errors.UndefinedTable), self.connection.transaction():
                    self.execute(f"INSERT INTO log VALUES ({n})")
                    self.execute("EINSUM z[] = nowhere[]")
            with self.connection.transaction():
                self.execute("INSERT INTO log VALUES (4)")
        self.assertEqual(self.log(), [1, 4])

    def test_nested_blocks_of_asyncpg(self):
        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            async with connection.transaction():
                await connection.execute("INSERT INTO log VALUES (1)")
                with self.assertRaises(asyncpg.UndefinedTableError):
                    async with connection.transaction():
                        await connection.execute("INSERT INTO log VALUES (2)")
                        await connection.fetch("EINSUM z[] = nowhere[] * $1", 1)
                await connection.execute("INSERT INTO log VALUES ($1)", 3)
            await connection.close()

        asyncio.run(session())
        self.assertEqual(self.log(), [1, 3])

    def test_psql_rolls_back_single_statements(self):
        script = "BEGIN;\nINSERT INTO log VALUES (1);\nSELECT nope;\nINSERT INTO log VALUES (2);\nCOMMIT;\n"
        ran = self.server.psql("-v", "ON_ERROR_ROLLBACK=on", text=script)
        self.assertEqual(ran.stdout, "BEGIN\nINSERT 0 1\nINSERT 0 1\nCOMMIT\n")
        self.assertIn('column "nope" does not exist', ran.stderr)
        self.assertEqual(self.log(), [1, 2])

    def test_what_is_cancelled_is_rescued_unless_it_wrote(self):
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"
        # The limit is set and lifted around the endless statements, so that a busy machine cancels no other one.
        self.execute("BEGIN")
        self.execute("INSERT INTO log VALUES (1)")
        self.execute("SAVEPOINT a")
        self.execute("SET statement_timeout = 300")
        self.refused("57014", f"{endless} COUNT(*) FROM c")
        self.execute("ROLLBACK TO a")
        self.execute("SET statement_timeout = 0")
        self.assertEqual(self.log(), [1])
        self.execute("COMMIT")
        self.execute("BEGIN")
        self.execute("INSERT INTO log VALUES (2)")
        self.execute("SAVEPOINT a")
        self.execute("SET statement_timeout = 300")
        self.refused("57014", f"INSERT INTO log {endless} x FROM c")
        self.refused("25P02", "ROLLBACK TO a")
        self.assertEqual(self.execute("COMMIT").statusmessage, "ROLLBACK")
        self.execute("SET statement_timeout = 0")
        self.assertEqual(self.log(), [1])

    # As JDBC's autosave does: one savepoint before each statement, and none released.
    def test_a_savepoint_for_each_statement(self):
        self.execute("BEGIN")
        for n in range(300):
            self.execute("SAVEPOINT auto")
            self.execute(f"INSERT INTO log VALUES ({n})")
            if n % 3 == 0:
                self.refused("42P01", "EINSUM z[] = nowhere[]")
                self.execute("ROLLBACK TO SAVEPOINT auto")
        self.execute("COMMIT")
        self.assertEqual(len(self.log()), 200)


if __name__ == "__main__":
    unittest.main()
