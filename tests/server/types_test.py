"""Tests the types of parameters and columns for all kinds of clients: NULL, computed columns, values that do not fit.

    types_test.py EINDB
"""

import asyncio
import datetime
import decimal
import unittest

import asyncpg
import psycopg
import psycopg2

from served import TENSORS, WithServer

SCRIPT = TENSORS + """
CREATE TABLE loose (n INTEGER, x REAL, flag BOOLEAN, bytes BLOB, price DECIMAL(10, 2));
INSERT INTO loose VALUES (1, 1.5, 1, x'00ff', 2.25), (NULL, NULL, NULL, NULL, NULL);
CREATE TABLE odd (n INTEGER);
INSERT INTO odd VALUES (1), ('no number');
"""


class Null(WithServer):
    def test_psycopg2(self):
        connection = psycopg2.connect(**self.server.arguments())
        cursor = connection.cursor()
        cursor.execute("INSERT INTO t VALUES (%s, %s)", (None, None))
        cursor.execute("SELECT * FROM t WHERE name IS NULL")
        self.assertEqual(cursor.fetchall(), [(None, None)])
        connection.close()

    def test_psycopg3(self):
        with psycopg.connect(**self.server.arguments()) as connection:
            for binary in (False, True):
                found = connection.execute("SELECT COALESCE(%s, 'none'), %s::int8", (None, None), binary=binary)
                self.assertEqual(found.fetchone(), ("none", None))
            with self.assertRaises(psycopg.errors.NullValueNotAllowed):
                connection.execute("EINSUM Z[i] = SUM(X[i,j]) * %s", (None,))

    def test_asyncpg(self):
        async def session(connection):
            self.assertIsNone(await connection.fetchval("SELECT n FROM t WHERE name = $1", None))
            await connection.execute("INSERT INTO t VALUES ($1, $2)", None, 7)
            self.assertEqual(await connection.fetchval("SELECT n FROM t WHERE name IS NULL"), 7)
            await connection.execute("DELETE FROM t WHERE name IS NULL")
            with self.assertRaises(asyncpg.exceptions.NullValueNotAllowedError):
                await connection.fetch("EINSUM Z[i] = SUM(X[i,j]) * $1", None)

        run(self, session)


# (SQL expression, its value). The column's type is described before the first row, and the value must fit it.
COMPUTED = (
    ("COUNT(*)", 2), ("SUM(n)", 3), ("n + 1", None), ("AVG(n)", decimal.Decimal("1.5")), ("MAX(n)", 2), ("MAX(name)", "b"),
    ("CAST(MAX(n) AS TEXT)", "2"), ("MAX(n)::float8", 2.0), ("length(MAX(name))", 1), ("COUNT(*) > 1", True),
    ("CASE WHEN COUNT(*) > 1 THEN 'many' ELSE 'few' END", "many"), ("COALESCE(MAX(n), 0)", 2),
    ("EXISTS (SELECT 1 FROM t)", True), ("1", 1), ("1.5", decimal.Decimal("1.5")), ("'x'", "x"), ("x'00ff'", b"\x00\xff"),
    ("(SELECT SUM(val) FROM X)", 33.0), ("(SELECT MAX(a) FROM (SELECT n * 2 AS a FROM t) AS s)", 4),
    ("(WITH RECURSIVE c(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM c WHERE k < 9) SELECT MAX(k) FROM c)", 9),
    ("NULL", None), ("json_extract('[1]', '$[0]')", "1"), ("current_user", "ada"), ("MAX(n) / 2.0", decimal.Decimal(1)),
)  # fmt: skip


class Columns(WithServer):
    script = SCRIPT

    def check(self, found, expected, expression):
        if expression == "n + 1":
            self.assertIn(found, (2, 3))
        else:
            self.assertEqual((found, type(found)), (expected, type(expected)), expression)

    def test_asyncpg(self):
        async def session(connection):
            for expression, value in COMPUTED:
                self.check(await connection.fetchval(f"SELECT {expression} FROM t"), value, expression)
            self.assertEqual(await connection.fetchval("SELECT COUNT(*) FROM t WHERE n > $1", 1), 1)
            self.assertEqual(await connection.fetchval("SELECT n + $1 FROM t WHERE name = $2", 5, "b"), 7)
            rows = await connection.fetch("SELECT n FROM t UNION SELECT val FROM X WHERE i = 0 AND j = $1", 1)
            self.assertEqual(rows, [(0.5,), (1.0,), (2.0,)])
            self.assertEqual([row["tensor"] for row in await connection.fetch("SHOW TENSORS")], ["C", "X"])
            row = await connection.fetchrow("SELECT * FROM loose LIMIT $1", 1)
            self.assertEqual(tuple(row), (1, 1.5, True, b"\x00\xff", 2.25))
            await connection.execute("INSERT INTO loose VALUES ($1, $2, $3, $4, $5)", 2, 2.5, False, b"\x01", 0.5)
            rows = await connection.fetch("SELECT * FROM loose WHERE flag = $1 AND bytes = $2", False, b"\x01")
            self.assertEqual([tuple(row) for row in rows], [(2, 2.5, False, b"\x01", 0.5)])
            await connection.execute("DELETE FROM loose WHERE n = $1", 2)

        run(self, session)

    def test_psycopg3_in_both_formats(self):
        with psycopg.connect(**self.server.arguments()) as connection:
            for binary in (False, True):
                for expression, value in COMPUTED:
                    with connection.cursor(binary=binary) as cursor:
                        cursor.execute(f"SELECT {expression} FROM t")
                        self.check(cursor.fetchone()[0], value, expression)
                found = connection.execute("SELECT * FROM loose WHERE bytes = %s", (b"\x00\xff",), binary=binary)
                self.assertEqual(found.fetchall(), [(1, 1.5, True, b"\x00\xff", 2.25)])

    def test_psycopg2(self):
        connection = psycopg2.connect(**self.server.arguments())
        cursor = connection.cursor()
        for expression, value in COMPUTED:
            cursor.execute(f"SELECT {expression} FROM t")
            found = cursor.fetchone()[0]
            self.check(bytes(found) if isinstance(found, memoryview) else found, value, expression)
        connection.close()

    def test_values_that_do_not_fit_are_errors(self):
        with psycopg.connect(**self.server.arguments()) as connection:
            for binary in (False, True):
                for query in ("SELECT n FROM odd", "SELECT MAX(n) FROM odd"):
                    with connection.cursor(binary=binary) as cursor, self.assertRaises(psycopg.errors.DatatypeMismatch):
                        cursor.execute(query)
                        cursor.fetchall()
                    connection.rollback()
                found = connection.execute("SELECT CAST(n AS TEXT) FROM odd")
                self.assertEqual(found.fetchall(), [("1",), ("no number",)])

    def test_unknown_types_are_text_whatever_comes(self):
        with psycopg.connect(**self.server.arguments()) as connection:
            query = "SELECT value FROM json_each('[1, 2.5, \"a\", null]')"
            for binary in (False, True):
                with connection.cursor(binary=binary) as cursor:
                    cursor.execute(query)
                    self.assertEqual(cursor.fetchall(), [("1",), ("2.5",), ("a",), (None,)])

    def test_a_statement_keeps_what_was_described(self):
        async def session(connection):
            await connection.execute("CREATE TABLE grows (a INTEGER)")
            statement = await connection.prepare("SELECT * FROM grows")
            self.assertEqual(await statement.fetch(), [])
            await connection.execute("ALTER TABLE grows ADD COLUMN b TEXT")
            with self.assertRaises(asyncpg.exceptions.FeatureNotSupportedError):
                await statement.fetch()
            self.assertEqual(await connection.fetch("SELECT b FROM grows"), [])
            await connection.execute("DROP TABLE grows")

        run(self, session)


class KeptStatements(WithServer):
    """A compiled statement that a session keeps follows changes of the schema by any session."""

    def test_tables_and_tensors_change_under_it(self):
        one = psycopg.connect(**self.server.arguments(), autocommit=True)
        two = psycopg.connect(**self.server.arguments(), autocommit=True)
        with one, two:
            for connection, other in ((one, two), (two, one), (one, one)):
                other.execute("CREATE TENSOR K AS EINSUM K[i 2] = i")
                self.assertEqual(connection.execute("SELECT SUM(val) FROM K").fetchone(), (1.0,))
                other.execute("DROP TENSOR K")
                other.execute("CREATE TENSOR K AS EINSUM K[i 3, j 2] = CAST(10 AS INT64)")
                self.assertEqual(connection.execute("SELECT SUM(val) FROM K").fetchone(), (60,))
                other.execute("DROP TENSOR K")
                other.execute("CREATE TABLE K (val TEXT)")
                self.assertEqual(connection.execute("SELECT MAX(val) FROM K").fetchone(), (None,))
                other.execute("DROP TABLE K")
                with self.assertRaises(psycopg.Error):
                    connection.execute("SELECT SUM(val) FROM K")

    def test_parameters_alone_have_the_types_that_the_client_states(self):
        with psycopg.connect(**self.server.arguments(), autocommit=True) as connection:
            self.assertEqual(connection.execute("SELECT %s, %s", [10, 2.5]).fetchone(), (10, 2.5))
            self.assertEqual(connection.execute("SELECT x FROM (SELECT %b AS x) AS q", [10]).fetchone(), (10,))
            self.assertEqual(connection.execute("SELECT %s", ["10"]).fetchone(), ("10",))

    def test_the_types_that_the_client_states_decide_operators(self):
        with psycopg.connect(**self.server.arguments(), autocommit=True) as connection:

            def one(query, *values):
                return connection.execute(query, values).fetchone()[0]

            day = datetime.date(2024, 1, 31)
            self.assertEqual(one("SELECT %s + 1", day), datetime.date(2024, 2, 1))
            self.assertEqual(one("SELECT %s - %s", day, datetime.date(2024, 1, 1)), 30)
            self.assertEqual(one("SELECT %s / 2", 7), 3)
            self.assertEqual(one("SELECT %s / 2", 7.0), 3.5)
            self.assertEqual(one("SELECT (%s)::text", day), "2024-01-31")
            # The same text with another type is another translation.
            self.assertEqual(one("SELECT %s / 2", 9), 4)
            with self.assertRaises(psycopg.errors.UndefinedFunction):
                one("SELECT %s + true", 1)

    def test_temporary_tables_hide_others(self):
        with psycopg.connect(**self.server.arguments(), autocommit=True) as connection:
            self.assertEqual(connection.execute("SELECT MAX(n) FROM t").fetchone(), (2,))
            connection.execute("CREATE TEMP TABLE t (n TEXT)")
            self.assertEqual(connection.execute("SELECT MAX(n) FROM t").fetchone(), (None,))
            connection.execute("INSERT INTO t VALUES ('z')")
            self.assertEqual(connection.execute("SELECT MAX(n) FROM t").fetchone(), ("z",))
            connection.execute("DROP TABLE temp.t")
            self.assertEqual(connection.execute("SELECT MAX(n) FROM t").fetchone(), (2,))


def run(test, session):
    async def connected():
        connection = await asyncpg.connect(host="127.0.0.1", port=test.server.port, user="ada", database="s")
        try:
            await session(connection)
        finally:
            await connection.close()

    asyncio.run(connected())


if __name__ == "__main__":
    unittest.main(verbosity=1)
