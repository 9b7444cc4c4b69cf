"""What SQLite answers otherwise than PostgreSQL: the server gives PostgreSQL's rows, types and errors."""

import asyncio
import datetime
import decimal
import unittest
import uuid

import asyncpg
import psycopg
import psycopg2

from served import WithServer

SCRIPT = """
CREATE TABLE p (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, x DOUBLE PRECISION, n NUMERIC(6,2), s TEXT, v VARCHAR(4),
                d DATE, ts TIMESTAMP, f BOOLEAN);
INSERT INTO p VALUES (1, 7, 2, 2.5, 3, 'Abc', 'ab', '2024-02-28', '2024-02-28 23:30:00', 1),
                     (2, NULL, 0, -1, 2, 'x', NULL, NULL, NULL, NULL);
CREATE TENSOR T AS EINSUM T[i 4] = CAST(i AS FLOAT64);
"""

# (expression over the first row of p, its value)
VALUES = (
    ("a / b", 3), ("-a / b", -3), ("a % b", 1), ("n / b", 1.5), ("a / 2.0", 3.5), ("2 ^ 10", 1024.0),
    ("'a' || 1 + 2", "a3"), ("s LIKE 'abc'", False), ("s ILIKE 'aBC'", True), ("s LIKE 'A%'", True),
    ("'10' = a + 3", True), ("a::text || 'x'", "7x"), ("' 12 '::int", 12), ("CAST(2.5 AS int)", 3),
    ("CAST(2.5::float8 AS int)", 2), ("greatest(a, NULL, b)", 7), ("least(NULL, 2, 1)", 1),
    ("substr('hello', -1, 3)", "h"), ("left('hello', -2)", "hel"), ("upper('straße ä')", "STRASSE Ä".replace("SS", "ß")),
    ("initcap('hello wörld')", "Hello Wörld"), ("strpos('äb', 'b')", 2), ("lpad('7', 3, '0')", "007"),
    ("split_part('a,b,c', ',', 2)", "b"), ("repeat('ab', 3)", "ababab"), ("concat_ws('-', 'a', NULL, 'b')", "a-b"),
    ("d + 1", "2024-02-29"), ("d - 59", "2023-12-31"), ("DATE '2024-03-01' - d", 2), ("d + INTERVAL '1 month'", "2024-03-28 00:00:00"),
    ("ts + INTERVAL '45 minutes'", "2024-02-29 00:15:00"), ("ts - TIMESTAMP '2024-02-27 00:00'", "1 day 23:30:00"),
    ("date_trunc('month', ts)", "2024-02-01 00:00:00"), ("EXTRACT(year FROM d)::int", 2024),
    ("to_char(ts, 'DD Mon YYYY HH24:MI')", "28 Feb 2024 23:30"), ("d = '2024-2-28'", True), ("f IS TRUE", True),
    ("true::text", "true"), ("1 = ANY('{1,2}'::int[])", True), ("NOT (a = 1 OR b = 1)", True),
    ("CASE WHEN f THEN 'yes' ELSE 'no' END", "yes"), ("round(2.567, 2)", 2.57), ("sign(-3.5)", -1.0),
)

# (statement, SQLSTATE)
ERRORS = (
    ("SELECT 1 / 0", "22012"), ("SELECT a % 0 FROM p", "22012"), ("SELECT x / 0 FROM p", "22012"),
    ("SELECT 'x'::int", "22P02"), ("SELECT s::int FROM p", "22P02"), ("SELECT '2024-02-30'::date", "22007"),
    ("SELECT s + 1 FROM p", "42883"), ("SELECT s = 1 FROM p", "42883"), ("SELECT 'x' = a FROM p", "22P02"),
    ("SELECT a FROM p WHERE a", "42804"), ("SELECT a AND f FROM p", "42804"), ("SELECT vall FROM p", "42703"),
    ('SELECT SUM("vall") FROM p', "42703"), ("SELECT q.a FROM p", "42P01"), ("SELECT upper(a) FROM p", "42883"),
    ("SELECT 9223372036854775807 + a FROM p", "22003"), ("SELECT 40000::smallint", "22003"), ("SELECT sqrt(-1)", "2201F"),
    ("SELECT ln(0)", "2201E"), ("SELECT (SELECT id FROM p)", "21000"), ("SELECT a, COUNT(*) FROM p", "42803"),
    ("SELECT 1 FROM p WHERE COUNT(*) > 1", "42803"), ("SELECT a FROM p UNION SELECT s FROM p", "42804"),
    ("SELECT COALESCE(a, s) FROM p", "42804"), ("SELECT DATE '2024-01-01' + DATE '2024-01-02'", "42883"),
    ("INSERT INTO p (id, v) VALUES (9, 'too long')", "22001"), ("INSERT INTO p (id, a) VALUES (9, 'x')", "22P02"),
    ("INSERT INTO p (id, n) VALUES (9, 123456)", "22003"), ("INSERT INTO p (id, d) VALUES (9, 'soon')", "22007"),
    ("INSERT INTO p (id, a) VALUES (9, DATE '2024-01-01')", "42804"), ("UPDATE p SET v = s || 'abcd'", "22001"),
    ("INSERT INTO p (id, nope) VALUES (9, 1)", "42703"), ("SELECT a FROM p ORDER BY 3", "42P10"),
    ("SELECT a FROM p LIMIT -1", "2201W"), ("SELECT repeat('x', 2000000000)", "54000"),
    ("CREATE TABLE bad (id INTEGER PRIMARY KEY, n serial)", "0A000"),
)


class DialectRows(WithServer):
    script = SCRIPT

    def setUp(self):
        self.connection = psycopg2.connect(**self.server.arguments())
        self.connection.autocommit = True
        self.addCleanup(self.connection.close)

    def rows(self, statement, *parameters):
        with self.connection.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []

    def test_values(self):
        for expression, wanted in VALUES:
            with self.subTest(expression):
                ((found,),) = self.rows(f"SELECT {expression} FROM p WHERE id = 1")
                self.assertEqual(float(found) if isinstance(wanted, float) else found, wanted)

    def test_errors(self):
        for statement, sqlstate in ERRORS:
            with self.subTest(statement), self.assertRaises(psycopg2.Error) as caught:
                self.rows(statement)
            with self.subTest(statement):
                self.assertEqual(caught.exception.pgcode, sqlstate, caught.exception)
        self.assertEqual(self.rows("SELECT COUNT(*) FROM p"), [(2,)])

    def test_errors_have_places_and_hints(self):
        with self.assertRaises(psycopg2.errors.UndefinedColumn) as caught:
            self.rows("SELECT a, bb FROM p")
        self.assertIn("did you mean b?", str(caught.exception))
        self.assertEqual(caught.exception.diag.statement_position, "11")

    def test_nulls_sort_last(self):
        self.assertEqual(self.rows("SELECT a FROM p ORDER BY a"), [(7,), (None,)])
        self.assertEqual(self.rows("SELECT a FROM p ORDER BY a DESC"), [(None,), (7,)])
        self.assertEqual(self.rows("SELECT a FROM p ORDER BY a NULLS FIRST"), [(None,), (7,)])

    def test_distinct_on(self):
        self.rows("CREATE TABLE m (day date, place text, degrees int)")
        self.rows("INSERT INTO m VALUES ('2024-01-02', 'a', 3), ('2024-01-01', 'a', 5), ('2024-01-01', 'b', 1), (NULL, 'b', 9)")
        query = "SELECT DISTINCT ON (place) place, degrees FROM m ORDER BY place, day DESC"
        self.assertEqual(self.rows(query), [("a", 3), ("b", 9)])
        self.assertEqual(self.rows(query.replace("DESC", "DESC NULLS LAST") + " LIMIT 1 OFFSET 1"), [("b", 1)])
        self.assertEqual(self.rows("SELECT DISTINCT ON (place) * FROM m ORDER BY place DESC, degrees"),
                         [("2024-01-01", "b", 1), ("2024-01-02", "a", 3)])  # fmt: skip
        self.assertEqual(self.rows("SELECT string_agg(place, '-') FROM (SELECT place FROM m ORDER BY degrees) AS s"),
                         [("b-a-a-b",)])  # fmt: skip
        self.rows("DROP TABLE m")

    def test_names_of_columns(self):
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT a + 1, upper(s), a::text, CASE WHEN f THEN 1 END, count(*) OVER (), 'x' FROM p")
            names = [column.name for column in cursor.description]
        self.assertEqual(names, ["?column?", "upper", "a", "case", "count", "?column?"])

    def test_parameters_have_the_types_that_the_statement_gives(self):
        with psycopg.connect(**self.server.arguments(), autocommit=True) as connection:
            found = connection.execute("SELECT a FROM p WHERE s = %s AND x < %s AND a = ANY(%s)", ("Abc", 3.5, [7, 8]))
            self.assertEqual(found.fetchall(), [(7,)])
            with self.assertRaises(psycopg.errors.InvalidTextRepresentation):
                connection.execute("SELECT a FROM p WHERE a = %s", ("seven",))

    def test_tags_of_statements_that_return_rows(self):
        self.rows("CREATE TABLE g (a int)")
        with self.connection.cursor() as cursor:
            for statement, tag in (("INSERT INTO g VALUES (1), (2), (3) RETURNING a", "INSERT 0 3"),
                                   ("UPDATE g SET a = a + 1 WHERE a > 1 RETURNING a", "UPDATE 2"),
                                   ("UPDATE g SET a = a WHERE a > 9 RETURNING a", "UPDATE 0"),
                                   ("DELETE FROM g WHERE a = 1 RETURNING a", "DELETE 1")):  # fmt: skip
                cursor.execute(statement)
                self.assertEqual(cursor.statusmessage, tag, statement)
        self.rows("DROP TABLE g")

    def test_parameters_of_dates_and_numbers(self):
        day, moment = datetime.date(1990, 5, 1), datetime.datetime(2024, 3, 1, 10, 0, 0, 250000)
        name = uuid.UUID("12345678-1234-5678-1234-567812345678")
        with psycopg.connect(**self.server.arguments(), autocommit=True) as connection:
            for form in ("%t", "%b"):
                found = connection.execute(
                    f"SELECT {form}::date + 1, {form}::timestamp, {form}::timestamptz, {form}::interval, {form}::uuid::text,"
                    f" {form}::numeric * 2",
                    (day, moment, moment.replace(tzinfo=datetime.timezone.utc), datetime.timedelta(days=1, hours=2), name,
                     decimal.Decimal("-12.5")))  # fmt: skip
                self.assertEqual(found.fetchone()[:5],
                                 ("1990-05-02", "2024-03-01 10:00:00.25", "2024-03-01 10:00:00.25+00", "1 day 02:00:00",
                                  str(name)))  # fmt: skip
            self.assertEqual(connection.execute("SELECT id FROM p WHERE d > %b", (day,)).fetchall(), [(1,)])

        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            try:
                self.assertEqual(await connection.fetchval("SELECT id FROM p WHERE d > $1", day), 1)
                self.assertEqual(await connection.fetchval("SELECT id FROM p WHERE ts > $1", moment.replace(year=2020)), 1)
                self.assertEqual(await connection.fetchval("SELECT count(*) FROM p WHERE id = ANY($1::int[])", [1, 2, 3]), 2)
            finally:
                await connection.close()

        asyncio.run(session())

    def test_columns_that_count(self):
        self.rows("CREATE TABLE s1 (id serial PRIMARY KEY, name text)")
        self.rows("CREATE TABLE s2 (id bigint GENERATED BY DEFAULT AS IDENTITY (START WITH 1) PRIMARY KEY, name text)")
        self.rows("CREATE TABLE s3 (name text, id bigserial, made timestamp DEFAULT now(), PRIMARY KEY (id))")
        for table in ("s1", "s2", "s3"):
            self.rows(f"INSERT INTO {table} (name) VALUES ('a'), ('b')")
            self.assertEqual(self.rows(f"INSERT INTO {table} (name) VALUES ('c') RETURNING id"), [(3,)])
            self.assertEqual(self.rows(f"SELECT id FROM {table} ORDER BY id"), [(1,), (2,), (3,)])
        self.assertEqual(self.rows("SELECT COUNT(made) FROM s3"), [(3,)])

    def test_values_are_stored_as_their_columns_types(self):
        self.rows("INSERT INTO p (id, a, x, n, d, ts, f, s) VALUES (5, '5', 1, 2.567, '20240301', '2024-03-01', 't', 5)")
        self.assertEqual(self.rows("SELECT a, x, n, d, ts, f, s FROM p WHERE id = 5"),
                         [(5, 1.0, 2.57, "2024-03-01", "2024-03-01 00:00:00", True, "5")])  # fmt: skip
        self.rows("INSERT INTO p (id, a) SELECT 6, a + 1.5 FROM p WHERE id = 1")
        self.assertEqual(self.rows("SELECT a FROM p WHERE id = 6"), [(9,)])
        self.rows("DELETE FROM p WHERE id > 2")

    def test_a_view_and_a_statement_of_sqlite(self):
        self.rows("CREATE VIEW pv AS SELECT id, a FROM p")
        self.assertEqual(self.rows("SELECT a / 2 FROM pv WHERE id = 1"), [(3,)])
        self.assertEqual(self.rows("SELECT printf('%d', a) FROM p WHERE id = 1"), [("7",)])
        self.rows("DROP VIEW pv")

    def test_tensors(self):
        self.assertEqual(self.rows("SELECT i / 2, val FROM t WHERE i BETWEEN 1 AND 2 ORDER BY i"), [(0, 1.0), (1, 2.0)])
        self.assertEqual(self.rows("SELECT COUNT(*) FROM T"), [(4,)])


if __name__ == "__main__":
    unittest.main()
