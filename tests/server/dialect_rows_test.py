"""What SQLite answers otherwise than PostgreSQL: the server gives PostgreSQL's rows, types and errors."""

import asyncio
import datetime
import decimal
import io
import unittest
import uuid
import zoneinfo

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
CREATE TENSOR Mt AS EINSUM Mt[i 2, j 2] = CAST(i + j AS FLOAT64);
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
    ("d + 1", datetime.date(2024, 2, 29)), ("d - 59", datetime.date(2023, 12, 31)), ("DATE '2024-03-01' - d", 2), 
    ("d + INTERVAL '1 month'", datetime.datetime(2024, 3, 28)),
    ("ts + INTERVAL '45 minutes'", datetime.datetime(2024, 2, 29, 0, 15)),
    ("ts - TIMESTAMP '2024-02-27 00:00'", datetime.timedelta(days=1, hours=23, minutes=30)),
    ("date_trunc('month', ts)", datetime.datetime(2024, 2, 1)), ("EXTRACT(year FROM d)::int", 2024),
    ("to_char(ts, 'DD Mon YYYY HH24:MI')", "28 Feb 2024 23:30"), ("d = '2024-2-28'", True), ("f IS TRUE", True),
    ("true::text", "true"), ("1 = ANY('{1,2}'::int[])", True), ("NOT (a = 1 OR b = 1)", True),
    ("substring('fillfactor=70' FROM '=([0-9]+)')", "70"), ("substring('a1b2' FROM '[0-9].')", "1b"),
    ("substring(s FROM '[0-9]')", None), ("substring('hello' FROM 2 FOR 3)", "ell"), ("substring('hello', 4)", "lo"),
    ("json_build_object('a', f, 'b', a, 'c', s, 'd', NULL)::text", '{"a":true,"b":7,"c":"Abc","d":null}'),
    ("date('2024-01-31') + 1", datetime.date(2024, 2, 1)), ("date(ts) + 1", datetime.date(2024, 2, 29)),
    ('"time"(TIMESTAMP \'2024-01-31 12:00:01.25\')', datetime.time(12, 0, 1, 250000)), ("now() = now()", True),
    ("16777217::float4", 16777216.0), ("like('abc', 'a%')", True), ("like('a%', 'abc')", False),
    ("a = ANY(NULL::int[])", None), ("a <> ALL(NULL::int[])", None), ("a = ANY('{}'::int[])", False),
    ("(SELECT array_agg(id) FROM p WHERE id > 9)", None), ("(SELECT array_agg(id ORDER BY a) FROM p WHERE id > 9)", None),
    ("(SELECT array_agg(id ORDER BY id) FROM p)::text", "{1,2}"),
    ("b < ANY(ARRAY[1, 3])", True), ("b > ALL('{1,NULL}'::int[])", None), ("b <> ANY(ARRAY[2, NULL])", None), ("b = ALL('{}'::int[])", True),
    ("b <> ANY(ARRAY[1, NULL])", True), ("b >= ALL(ARRAY[3, NULL])", False), ("b < ANY(NULL::int[])", None), ("s < ANY('{Abd}')", True),
    ("d + TIME '10:00'", datetime.datetime(2024, 2, 28, 10)), ("TIME '23:30' + INTERVAL '1 hour'", datetime.time(0, 30)),
    ("TIME '10:00' - TIME '09:15'", datetime.timedelta(minutes=45)), ("ts - TIME '00:30'", datetime.datetime(2024, 2, 28, 23)),
    ("'2024-02-28 10:00:00.5'::timestamp(0)", datetime.datetime(2024, 2, 28, 10, 0, 1)), ("'23:00:00.24'::time(1)", datetime.time(23, 0, 0, 200000)),
    ("1e20::text", "100000000000000000000"), ("0.0000001::text", "0.0000001"), ("1e20::float8::text", "1e+20"),
    ("LOCALTIMESTAMP(0) = date_trunc('second', LOCALTIMESTAMP(0))", True),
    ("0.1 + 0.2 = 0.3", True), ("1 - 0.9 = 0.1", True), ("1.1 * 1.1 = 1.21", True), ("0.3 % 0.1 = 0", True), ("div(0.3, 0.1)", 3.0),
    ("floor(0.3 / 0.1)", 3.0), ("(0.1::float8 + 0.2)::numeric = 0.3", True), ("-7.5 % 2", -1.5), ("' '::\"char\" = ' '", True),
    ("(SELECT sum(y) = 0.6 AND avg(y) = 0.2 FROM (VALUES (0.1), (0.2), (0.3)) AS q (y))", True), ("4.35 * 100 = 435", True),
    ("pg_typeof(a)", "bigint"), ("pg_typeof(n + 1)", "numeric"), ("pg_typeof(ARRAY[a])", "bigint[]"), ("pg_typeof('x')", "unknown"),
    ("gen_random_uuid() <> gen_random_uuid()", True), ("length(gen_random_uuid()::text)", 36), ("x + 1 - 0.5 * x", 2.25),
    ("'inf'::float8 + 1", float("inf")), ("(SELECT sum(x) FROM p WHERE id > 9)", None), ("(SELECT sum(DISTINCT x) FROM p)", 1.5),
    ("(SELECT avg(x) FILTER (WHERE x > 0) FROM p)", 2.5),
    ("CASE WHEN f THEN 'yes' ELSE 'no' END", "yes"), ("round(2.567, 2)", 2.57), ("sign(-3.5)", -1.0),
)

# (statement, SQLSTATE)
ERRORS = (
    ("SELECT 1 / 0", "22012"), ("SELECT a % 0 FROM p", "22012"), ("SELECT x / 0 FROM p", "22012"),
    ("SELECT 'x'::int", "22P02"), ("SELECT s::int FROM p", "22P02"), ("SELECT '2024-02-30'::date", "22008"),
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
    ("SELECT b, a FROM p GROUP BY b", "42803"), ("SELECT *, COUNT(*) FROM p GROUP BY b", "42803"),
    ("SELECT b, COUNT(*) FROM p GROUP BY b ORDER BY a", "42803"), ("SELECT b FROM p GROUP BY b HAVING a > 1", "42803"),
    ("SELECT b, (SELECT a) FROM p GROUP BY b", "42803"), ("SELECT a + 2 FROM p GROUP BY a + 1", "42803"),
    ("SELECT b, rank() OVER (ORDER BY a) FROM p GROUP BY b", "42803"),
    ("SELECT b, EXISTS (SELECT 1 FROM p AS o WHERE o.a = p.a) FROM p GROUP BY b", "42803"),
    ("CREATE VIEW bad AS SELECT b, a FROM p GROUP BY b", "42803"), ("SELECT i, j, SUM(val) FROM Mt GROUP BY i", "42803"),
    ("CREATE TABLE bad AS SELECT b, a FROM p GROUP BY b", "42803"),
    ("WITH w AS (SELECT b, a FROM p GROUP BY b) SELECT * FROM w", "42803"),
    ("SELECT DISTINCT b FROM p ORDER BY a", "42P10"), ("SELECT DISTINCT b FROM p ORDER BY b + 1", "42P10"),
    ("SELECT date(ts) > 'foo' FROM p", "22007"), ("SELECT date('nodate')", "22007"), ("SELECT date('now', '+1 day')", "42883"),
    ("UPDATE p SET a = 1, a = 2", "42601"), ("SELECT EXTRACT(hour FROM DATE '2024-01-01')", "0A000"),
    ("SELECT 1e39::float4", "22003"), ("ALTER TABLE p ADD COLUMN q int CHECK (q <> 'x')", "22P02"),
    ("SELECT DISTINCT ON (b) a, b FROM p ORDER BY a", "42P10"), ("SELECT DISTINCT ON (a, b) a, b FROM p ORDER BY a, s, b", "42P10"),
    ("SELECT 1e308::float8 * 10", "22003"), ("SELECT 1e308 * 10", "22003"), ("SELECT -1e308::float8 - 1e308", "22003"),
    ("SELECT 1e308::float8 / 1e-10", "22003"), ("SELECT 1e-308::float8 * 1e-308", "22003"), ("SELECT 1e400::float8", "22003"),
    ("SELECT '1e400'::float8", "22003"), ("SELECT 'inf'::float8 - 'inf'", "0A000"), ("SELECT 'inf'::float8 * 0", "0A000"),
    ("SELECT 'inf'::float8 / 'inf'", "0A000"), ("SELECT sin('inf'::float8)", "22003"),
    ("SELECT sum(y) FROM (VALUES (1e308::float8), (1e308)) AS q (y)", "22003"),
    ("SELECT avg(y) OVER () FROM (VALUES (1e308::float8), (1e308)) AS q (y)", "22003"),
    ("SELECT sum(y) FROM (VALUES ('inf'::float8), ('-inf')) AS q (y)", "0A000"),
    ("SELECT 1 UNION SELECT 'x'", "22P02"), ("SELECT NULL UNION SELECT NULL UNION SELECT 1", "42804"),
    ("SELECT * FROM p JOIN p AS q USING (nosuch)", "42703"), ("SELECT * FROM (SELECT 1 AS k) AS j JOIN p USING (k)", "42703"),
    ("SELECT percentile_cont(0.5, a) FROM p", "42809"), ("SELECT mode(a) FROM p", "42809"), ("SELECT pg_typeof(ifnull(a, 1)) FROM p", "0A000"),
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

    def test_groups(self):
        self.rows("CREATE TABLE gr (a int PRIMARY KEY, b int, c int)")
        self.rows("INSERT INTO gr VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30)")
        for statement, wanted in (
            ("SELECT b + 1, (b + 1) * 2, count(*) FROM gr AS g GROUP BY b + 1 ORDER BY b + 1", [(2, 4, 2), (3, 6, 1)]),
            ("SELECT a, b, c, count(*) FROM gr AS g GROUP BY a ORDER BY a", [(1, 1, 10, 1), (2, 1, 20, 1), (3, 2, 30, 1)]),
            ("SELECT g.*, count(*) FROM gr AS g GROUP BY g.a ORDER BY 1 LIMIT 1", [(1, 1, 10, 1)]),
            ("SELECT b AS z, sum(c) FILTER (WHERE c > 10) FROM gr AS g GROUP BY z ORDER BY z", [(1, 20), (2, 30)]),
            ("SELECT b * 2 AS z, count(*) FROM gr AS g GROUP BY 1 ORDER BY z", [(2, 2), (4, 1)]),
            ("SELECT b, group_concat(c) FROM gr AS g GROUP BY b ORDER BY b", [(1, "10,20"), (2, "30")]),
            ("SELECT b, sum(sum(c)) OVER (ORDER BY b) FROM gr AS g GROUP BY b ORDER BY b", [(1, 30), (2, 60)]),
            ("SELECT b, (SELECT max(o.c) FROM gr AS o WHERE o.b = g.b) FROM gr AS g GROUP BY b ORDER BY 1", [(1, 20), (2, 30)]),
            ("SELECT b FROM gr AS g GROUP BY b ORDER BY count(*)", [(2,), (1,)]),
            ("SELECT DISTINCT g.b FROM gr AS g ORDER BY g.b", [(1,), (2,)]),
            ("SELECT DISTINCT * FROM gr AS g ORDER BY g.a LIMIT 1", [(1, 1, 10)]),
            ("SELECT i, sum(val) FROM Mt GROUP BY i ORDER BY i", [(0, 1.0), (1, 3.0)]),
            ("SELECT i, j, val FROM Mt GROUP BY i, j HAVING val > 1", [(1, 1, 2.0)]),
        ):
            with self.subTest(statement):
                self.assertEqual(self.rows(statement), wanted)

    def test_moments_of_a_transaction(self):
        self.rows("BEGIN")
        begun = self.rows("SELECT now(), transaction_timestamp(), CURRENT_TIMESTAMP")
        self.assertEqual(begun[0][0], begun[0][2])
        while self.rows("SELECT clock_timestamp() <= now()") == [(True,)]:
            pass
        self.assertEqual(self.rows("SELECT now(), transaction_timestamp(), CURRENT_TIMESTAMP"), begun)
        self.assertEqual(self.rows("SELECT statement_timestamp() > now()"), [(True,)])
        self.rows("COMMIT")
        self.assertGreater(self.rows("SELECT now()")[0][0], begun[0][0])

    def test_added_column_gives_no_rows(self):
        self.rows("CREATE TABLE added (a int)")
        self.rows("INSERT INTO added VALUES (1)")
        with self.connection.cursor() as cursor:
            cursor.execute("ALTER TABLE added ADD COLUMN x int DEFAULT 1 CHECK (x > 0)")
            self.assertIsNone(cursor.description)
        self.assertEqual(self.rows("SELECT * FROM added"), [(1, 1)])

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
                         [(datetime.date(2024, 1, 1), "b", 1), (datetime.date(2024, 1, 2), "a", 3)])  # fmt: skip
        self.assertEqual(self.rows("SELECT string_agg(place, '-') FROM (SELECT place FROM m ORDER BY degrees) AS s"),
                         [("b-a-a-b",)])  # fmt: skip
        self.rows("DROP TABLE m")

    def test_a_union_gives_constants_their_types(self):
        for statement, wanted in (
            ("SELECT NULL UNION SELECT 1 ORDER BY 1", [(1,), (None,)]), ("SELECT 1 UNION ALL SELECT NULL", [(1,), (None,)]),
            ("SELECT '2' EXCEPT SELECT 1", [(2,)]), ("SELECT '2024-2-28' UNION SELECT d FROM p WHERE id = 1", [(datetime.date(2024, 2, 28),)]),
            ("SELECT a, NULL FROM p WHERE id = 1 UNION SELECT '5', 'x' ORDER BY 1", [(5, "x"), (7, None)]),
            ("WITH w AS (SELECT 3 AS k) (SELECT '1' LIMIT 1) UNION SELECT k FROM w ORDER BY 1", [(1,), (3,)]),
            ("SELECT * FROM (SELECT NULL AS k UNION SELECT 'a') AS u ORDER BY k", [("a",), (None,)]),
        ):  # fmt: skip
            with self.subTest(statement):
                self.assertEqual(self.rows(statement), wanted)

    def test_blanks_at_the_end_of_char(self):
        self.rows("CREATE TABLE padded (c char(4) PRIMARY KEY, d char(3) DEFAULT 'a ', e char)")
        self.rows("INSERT INTO padded (c) VALUES ('ab'), ('x  '), ('long     ')")
        for statement, wanted in (
            ("SELECT c FROM padded WHERE c = 'ab   ' OR c IN ('x ') ORDER BY c", [("ab  ",), ("x   ",)]),
            ("SELECT length(c), octet_length(c), c || '|', concat(c, '|'), c LIKE 'ab', c LIKE 'ab%' FROM padded WHERE c = 'ab'",
             [(2, 4, "ab|", "ab  |", False, True)]),
            ("SELECT DISTINCT d FROM padded WHERE d = 'a'", [("a  ",)]), ("SELECT max(c), min(c) FROM padded", [("x   ", "ab  ")]),
            ("SELECT c = 'ab '::text FROM padded WHERE c BETWEEN 'ab ' AND 'ab'", [(False,)]),
            ("SELECT 'ab'::char(3), 'ab'::char(3) = 'ab '::char(4), 'abcd'::char", [("ab ", True, "a")]),
            ("SELECT count(*) FROM padded WHERE c = ANY(ARRAY['x '])", [(0,)]),
        ):  # fmt: skip
            with self.subTest(statement):
                self.assertEqual(self.rows(statement), wanted)
        for statement, sqlstate in (("INSERT INTO padded (c) VALUES ('ab ')", "23505"), ("UPDATE padded SET c = 'fives'", "22001"),
                                    ("UPDATE padded SET e = 'ab'", "22001")):  # fmt: skip
            with self.assertRaises(psycopg2.Error) as caught:
                self.rows(statement)
            self.assertEqual(caught.exception.pgcode, sqlstate, statement)
        copied = io.StringIO()
        with self.connection.cursor() as cursor:
            cursor.copy_expert("COPY (SELECT c, d FROM padded WHERE c = 'ab') TO STDOUT", copied)
        self.assertEqual(copied.getvalue(), "ab  \ta  \n")
        with psycopg.connect(**self.server.arguments()) as connection:
            found = connection.execute("SELECT c FROM padded WHERE c = %s", ("ab   ",), binary=True)
            self.assertEqual(found.fetchall(), [("ab  ",)])
        self.rows("DROP TABLE padded")

    def test_a_table_is_a_query(self):
        self.rows("CREATE TABLE q (a int DEFAULT 1, id uuid DEFAULT gen_random_uuid())")
        self.rows("INSERT INTO q DEFAULT VALUES")
        self.rows("INSERT INTO q (a) VALUES (2)")
        self.assertEqual(self.rows("SELECT count(DISTINCT id) FROM q"), [(2,)])
        self.assertEqual([row[0] for row in self.rows("TABLE q ORDER BY a DESC LIMIT 1")], [2])
        self.assertEqual(len(self.rows("(TABLE q) UNION TABLE q")), 2)
        self.rows("DROP TABLE q")

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
                                   ("DELETE FROM g WHERE a = 1 RETURNING a", "DELETE 1"),
                                   ("CREATE TABLE g2 AS SELECT a AS b FROM g", "SELECT 2"), ("CREATE TEMP TABLE g3 AS TABLE g", "SELECT 2"),
                                   ("CREATE TABLE g4 (a int DEFAULT (1), b int GENERATED ALWAYS AS (a) STORED)", "CREATE TABLE")):  # fmt: skip
                cursor.execute(statement)
                self.assertEqual(cursor.statusmessage, tag, statement)
        self.rows("DROP TABLE g, g2, g4")

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
                                 (datetime.date(1990, 5, 2), moment, moment.replace(tzinfo=datetime.timezone.utc),
                                  datetime.timedelta(days=1, hours=2),
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
                         [(5, 1.0, decimal.Decimal("2.57"), datetime.date(2024, 3, 1), datetime.datetime(2024, 3, 1), True,
                           "5")])  # fmt: skip
        self.rows("INSERT INTO p (id, a) SELECT 6, a + 1.5 FROM p WHERE id = 1")
        self.assertEqual(self.rows("SELECT a FROM p WHERE id = 6"), [(9,)])
        self.rows("DELETE FROM p WHERE id > 2")

    def test_results_have_their_types_in_both_formats(self):
        utc = zoneinfo.ZoneInfo("UTC")
        with psycopg.connect(**self.server.arguments(), autocommit=True) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("CREATE TABLE r (a date, b timestamp, c timestamptz, d numeric(10,2), e numeric, f uuid,"
                               " g interval, h time, i varchar(5), j json, k int[], l text[])")
            values = (datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 0, 500000),
                      datetime.datetime(2024, 2, 29, 10, tzinfo=utc), decimal.Decimal("1.50"), decimal.Decimal(10**20),
                      uuid.UUID("12345678-1234-5678-1234-567812345678"), datetime.timedelta(days=1, hours=2),
                      datetime.time(12, 30), "abc", {"a": [1]}, [1, 2, None], ["x", "y z", None])  # fmt: skip
            connection.execute("INSERT INTO r VALUES ('2024-02-29', '2024-02-29 12:30:00.5', '2024-02-29 12:00+02', 1.5,"
                               " 1e20, '12345678-1234-5678-1234-567812345678', '1 day 2 hours', '12:30', 'abc',"
                               " '{\"a\":[1]}', '{1,2,NULL}', '{x,\"y z\",NULL}')")
            for binary in (False, True):
                found = connection.execute("SELECT * FROM r", binary=binary)
                self.assertEqual([column.type_code for column in found.description],
                                 [1082, 1114, 1184, 1700, 1700, 2950, 1186, 1083, 1043, 114, 1016, 1009])  # fmt: skip
                row = found.fetchone()
                self.assertEqual(row, values)
                self.assertEqual(str(row[3]), "1.50")
                found = connection.execute("SELECT array_agg(a), ARRAY[1, 2], k[2], max(d), array[1] || k FROM r GROUP BY k",
                                           binary=binary)  # fmt: skip
                self.assertEqual(found.fetchone(),
                                 ([values[0]], [1, 2], 2, decimal.Decimal("1.5"), [1, 1, 2, None]))  # fmt: skip
                for number in ("0", "-0.0001", "123456789.25", "1e-20", "-12345678901234567890"):
                    found = connection.execute(f"SELECT {number}::numeric", binary=binary).fetchone()[0]
                    self.assertEqual(float(found), float(number))
            with connection.cursor().copy("COPY r (a, d, k) TO STDOUT") as copy:
                self.assertEqual(list(copy.rows()), [("2024-02-29", "1.50", "{1,2,NULL}")])
            connection.execute("DROP TABLE r")

    def test_functions_that_give_rows(self):
        day = datetime.datetime
        for query, wanted in (
            ("SELECT * FROM generate_series(1, 3) AS g(x)", [(1,), (2,), (3,)]),
            ("SELECT x * 2 FROM generate_series(3, 1, -2) x", [(6,), (2,)]),
            ("SELECT generate_series(1, 2), 'a'", [(1, "a"), (2, "a")]),
            ("SELECT g FROM generate_series('2024-01-31'::timestamp, '2024-03-31', '1 month') AS g",
             [(day(2024, 1, 31),), (day(2024, 2, 29),), (day(2024, 3, 31),)]),
            ("SELECT a, n FROM unnest(ARRAY['x', 'y']) WITH ORDINALITY AS t(a, n)", [("x", 1), ("y", 2)]),
            ("SELECT p.id, u FROM p, unnest(ARRAY[p.id, 9]) AS u ORDER BY 1, 2", [(1, 1), (1, 9), (2, 2), (2, 9)]),
            ("SELECT x.c FROM p, LATERAL (SELECT p.id * 10) AS x(c) ORDER BY 1", [(10,), (20,)]),
            ("SELECT (1, 2) = (1, 2), (1, 2) < (1, 3), (1, 2) IN ((3, 4), (1, 2))", [(True, True, True)]),
            ("SELECT id FROM p WHERE (id, id) IN (SELECT id, 1 FROM p)", [(1,)]),
            ("SELECT INTERVAL '24 hours' = INTERVAL '1 day', INTERVAL '1 mon' > INTERVAL '29 days'", [(True, True)]),
            ("SELECT '749' > d::text, uuid '12345678-1234-5678-1234-567812345678'::text < '9' FROM p WHERE id = 1",
             [(True, True)]),
            ("SELECT v * 1 FROM (VALUES ('2 days'::interval), ('25 hours')) AS t(v) ORDER BY 1",
             [(datetime.timedelta(hours=25),), (datetime.timedelta(days=2),)]),
            ("SELECT v FROM (VALUES ('2 days'::interval), ('25 hours')) AS t(v) ORDER BY v",
             [(datetime.timedelta(hours=25),), (datetime.timedelta(days=2),)]),
            ("SELECT a.x, b.y FROM (SELECT 1 AS x) a LEFT JOIN ((SELECT 1 AS x) c JOIN (SELECT 1 AS x, 2 AS y) b"
             " ON b.x = c.x) ON a.x = b.x", [(1, 2)]),
            ("SELECT '{\"a\":{\"b\":2}}'::json -> 'a' ->> 'b'", [("2",)]),
            ("SELECT Z.i, Z.val / 2 FROM (EINSUM Z[i] = T[i] + 1) WHERE Z.i < 2 ORDER BY 1", [(0, 0.5), (1, 1.0)]),
            ("SELECT 'today'::date = current_date, 'now'::timestamp <= now()", [(True, True)]),
            ("SELECT ~5, 6 & 3, 6 | 1, 1 << 4", [(-6, 2, 7, 16)]),
        ):  # fmt: skip
            with self.subTest(query):
                self.assertEqual(self.rows(query), wanted)
        for query, sqlstate in (("SELECT generate_series(1, 2), generate_series(1, 3)", "0A000"),
                                ("SELECT id FROM p WHERE generate_series(1, 2) = 1", "0A000"),
                                ("SELECT p FROM p", "0A000"), ("SELECT a FROM p GROUP BY ROLLUP (a)", "0A000"),
                                ("SELECT 1 FROM p TABLESAMPLE system (10)", "0A000"), ("SELECT 'x'::nonsense", "42704"),
                                ("SELECT 'a' SIMILAR TO 'b'", "0A000"), ("SELECT nosuch.f(1)", "3F000"),
                                ("SELECT 1 " + "+ 1 " * 5000, "54001")):  # fmt: skip
            with self.subTest(query), self.assertRaises(psycopg2.Error) as caught:
                self.rows(query)
            self.assertEqual(caught.exception.pgcode, sqlstate, caught.exception)

    def test_rows_of_other_tables_decide_what_is_deleted(self):
        self.rows("CREATE TABLE w (a int, b int)")
        self.rows("INSERT INTO w VALUES (1, 1), (2, 2), (3, 3)")
        self.rows("DELETE FROM w USING (VALUES (1), (3)) AS gone(k) WHERE w.a = gone.k")
        self.rows("UPDATE w SET (a, b) = (a + 10, 7)")
        self.assertEqual(self.rows("SELECT * FROM w"), [(12, 7)])
        self.rows("CREATE UNIQUE INDEX ON_W ON w (a)")
        self.rows("INSERT INTO w SELECT 12, 8 ON CONFLICT (a) DO UPDATE SET b = excluded.b")
        self.assertEqual(self.rows("SELECT * FROM w"), [(12, 8)])
        self.rows("DROP TABLE w")

    def test_long_statements(self):
        self.rows("CREATE TABLE long (a int, b text)")
        self.rows("INSERT INTO long VALUES " + ", ".join(f"({n}, 'x')" for n in range(100_000)))
        self.rows("INSERT INTO long VALUES (-1, '" + "y" * 5_000_000 + "')")
        self.assertEqual(self.rows("SELECT COUNT(*), SUM(length(b)) FROM long WHERE " +
                                   " OR ".join(f"a = {n}" for n in range(-1, 900))), [(901, 5_000_900)])  # fmt: skip
        self.rows("DROP TABLE long")

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
