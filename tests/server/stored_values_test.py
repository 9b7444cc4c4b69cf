"""Tables hold values of their columns' types alone: what INSERT, UPDATE, COPY and DEFAULT store is checked, and so are the
texts of arrays, JSON and intervals."""

import asyncio
import datetime
import decimal
import math
import unittest
import uuid

import asyncpg
import psycopg

from served import WithServer
from tables_test import WithConnection

SCRIPT = """
CREATE TENSOR K AS EINSUM K[i 3] = COMPLEX(i * 1.5, -2);
"""
TABLE = """CREATE TABLE t (id int PRIMARY KEY, f float8, d date, v varchar(2), n numeric(4,1), a int[], j json, b bytea,
                           u uuid, s timestamp, w interval)"""

INTERVALS = (
    ("1-2", "1 year 2 mons"), ("3 4:05", "3 days 04:05:00"), ("1 2:03:04", "1 day 02:03:04"), ("1 yr", "1 year"),
    ("1.5 months", "1 mon 15 days"), ("P1DT2H", "1 day 02:00:00"), ("P1Y2M3W4DT5H6M7.5S", "1 year 2 mons 25 days 05:06:07.5"),
    ("10", "00:00:10"), ("1 day ago", "-1 days"), ("-1 day +2 hours", "-1 days +02:00:00"), ("-1-2", "-1 years -2 mons"),
    ("1 mon -1 day 2 hours", "1 mon -1 days +02:00:00"), ("2 weeks 1 hour", "14 days 01:00:00"), ("@ 1 minute", "00:01:00"),
    ("1.5 years", "1 year 6 mons"), ("5:06.5", "00:05:06.5"), ("1 decade 2 ms", "10 years 00:00:00.002"),
)  # fmt: skip
NO_INTERVALS = ("2024-01-01", "1 day 1 day", "soon", "", "1 2 3 days x", "P", "P1H", "1-", "1 day 2:03 hours 4:05")

CASTS = (
    ("'{1,x}'::int[]", "22P02"), ("'{1,2'::int[]", "22P02"), ("'{1.5}'::int[]", "22P02"), ("'{1,}'::int[]", "22P02"),
    ("'{{1,2},{3}}'::int[]", "22P02"), ("'x'::int[]", "22P02"), ("'{2024-02-30}'::date[]", "22008"),
    ("array['1','x']::int[]", "22P02"), ("1 = any('{1,x}'::int[])", "22P02"), ("1 = any(array['x']::text[])", "42883"),
    ("'{bad}'::json", "22P02"), ("''::json", "22P02"), ("'2024-02-30'::date", "22008"), ("'2024-13-01'::date", "22008"),
    ("'25:00'::time", "22008"), ("'2024-01-01 10:61'::timestamp", "22008"), ("'1:70'::interval", "22008"),
    ("'soon'::date", "22007"), ("'2024-01-01' + interval '1 day'", "22007"), ("interval '3000000000 days'", "22008"),
)  # fmt: skip

READ = (
    ("'{ 1, 2 , NULL}'::int[]::text", "{1,2,NULL}"), ("'{{1,2},{3,4}}'::int[]::text", "{{1,2},{3,4}}"),
    ("""'{"a b", c}'::text[]::text""", '{"a b",c}'), ("array[true,false]::text", "{t,f}"), ("'{}'::int[]::text", "{}"),
    ("1 = any('{1,2}'::int[])", True), ("1.5 = any('{1.5}'::float8[])", True), ("'5' = any('{5}'::text[])", True), ("('{5}'::text[])[1] = '5'", True), ("('{1.5,10}'::float8[])[1] < 2", True),
    ("(SELECT count(*) FROM unnest('{1.5,10}'::float8[]) AS x WHERE x < 2)", 1), ("('{f}'::bool[])[1]", False),
    ("(SELECT count(*) FROM unnest('{5,a}'::text[]) AS x WHERE x = '5')", 1), ("'a' = any(array['b','a'])", True),
    ("(- interval '1 day 2 hours')::text", "-1 days -02:00:00"), ("justify_hours(interval '27 hours')::text", "1 day 03:00:00"),
    ("justify_days('35 days')::text", "1 mon 5 days"), ("justify_interval(interval '1 mon -1 hour')::text", "29 days 23:00:00"),
)  # fmt: skip

# Functions of SQLite: their values have no type before the statement runs.
UNTYPED = (
    ("d", "strftime('%Y', '2024-01-01')", "22007"), ("f", "ifnull(NULL, 'x')", "22P02"), ("f", "iif(true, 'x', 'y')", "22P02"),
    ("f", "json_extract('{\"a\":\"x\"}', '$.a')", "22P02"), ("f", "printf('%s', 'x')", "22P02"), ("id", "ifnull(NULL, 'x')", "22P02"),
    ("v", "ifnull(NULL, 'long')", "22001"), ("n", "ifnull(NULL, 12345)", "22003"), ("a", "ifnull(NULL, '{x}')", "22P02"),
    ("j", "ifnull(NULL, '{bad}')", "22P02"), ("u", "ifnull(NULL, 'x')", "22P02"), ("s", "ifnull(NULL, 'x')", "22007"),
)  # fmt: skip


class Values(WithConnection):
    script = SCRIPT

    def setUp(self):
        super().setUp()
        self.rows(TABLE)
        self.addCleanup(self.rows, "DROP TABLE IF EXISTS t")

    def test_casts(self):
        for expression, wanted in READ:
            with self.subTest(expression):
                self.assertEqual(self.value(f"SELECT {expression}"), wanted)
        for expression, sqlstate in CASTS:
            with self.subTest(expression):
                self.refused(sqlstate, f"SELECT {expression}")

    def test_intervals(self):
        for text, wanted in INTERVALS:
            with self.subTest(text):
                self.assertEqual(self.value(f"SELECT ('{text}'::interval)::text"), wanted)
                self.assertEqual(self.value(f"SELECT ('{wanted}'::interval)::text"), wanted)
        for text in NO_INTERVALS:
            with self.subTest(text):
                self.refused("22007", f"SELECT '{text}'::interval", f"INSERT INTO t (id, w) VALUES (1, '{text}')")
        self.rows("INSERT INTO t (id, w) VALUES (1, '1 day'), (2, '2 hours'), (3, NULL), (4, '1 mon')")
        self.assertEqual(self.rows("SELECT sum(w)::text, avg(w)::text FROM t"),
                         [("1 mon 1 day 02:00:00", "10 days 08:40:00")])  # fmt: skip
        self.assertEqual(self.rows("SELECT sum(w)::text FROM t WHERE id = 3"), [(None,)])

    def test_values_of_functions_without_a_type(self):
        self.rows("INSERT INTO t (id) VALUES (1)")
        for column, value, sqlstate in UNTYPED:
            with self.subTest(value):
                self.refused(sqlstate, f"UPDATE t SET {column} = {value}")
                if column != "id":
                    self.refused(sqlstate, f"INSERT INTO t (id, {column}) SELECT 2, {value}")
        self.rows("UPDATE t SET f = ifnull(NULL, '7.5'), d = strftime('%Y-%m-%d', '2024-02-03'), n = ifnull(NULL, 2)")
        self.assertEqual(self.rows("SELECT f, d, n FROM t"), [(7.5, datetime.date(2024, 2, 3), 2)])
        self.refused("22P02", "SELECT json_extract('{\"a\":\"x\"}', '$.a') + 1", "SELECT -json_extract('{\"a\":\"x\"}', '$.a')",
                     "SELECT sum(json_extract('{\"a\":\"x\"}', '$.a'))")  # fmt: skip
        self.assertEqual(self.value("SELECT json_extract('{\"a\":5}', '$.a') + 1"), 6)

    def test_arrays_and_json_are_those_of_the_column(self):
        self.rows("INSERT INTO t (id, a, j) VALUES (1, '{ 1,2}', '[1]'), (2, array[3], NULL)")
        self.assertEqual(self.rows("SELECT a, j FROM t ORDER BY id"), [([1, 2], [1]), ([3], None)])
        self.refused("42804", "UPDATE t SET a = array['q']", "UPDATE t SET a = 1", "UPDATE t SET b = 1")
        self.refused("42883", "UPDATE t SET a = a || array['q']", "UPDATE t SET a = a || 'q'::text")
        self.refused("0A000", "INSERT INTO t (id, d) SELECT * FROM json_each('[1]')")
        self.refused("22P02", "UPDATE t SET a = a || 1.5", "INSERT INTO t (id, f) SELECT 3, value FROM json_each('[\"x\"]')")
        self.rows("UPDATE t SET a = a || 4 WHERE id = 1")
        self.assertEqual(self.value("SELECT a FROM t WHERE id = 1"), [1, 2, 4])
        self.refused("22P02", "UPDATE t SET a = '{q}'", "UPDATE t SET j = '{bad}'", "UPDATE t SET j = ''")

    def test_complex_numbers_are_not_stored_as_texts(self):
        for statement in (
            "CREATE TABLE kt AS SELECT i, val FROM K", "CREATE TABLE kt AS SELECT * FROM K",
            "CREATE TEMP TABLE kt AS SELECT * FROM (EINSUM Z[i] = K[i] * 2) AS q",
            "INSERT INTO t (id, f) SELECT i, val FROM K", "INSERT INTO t (id, v) SELECT i, val FROM K",
            "UPDATE t SET f = q.v FROM (SELECT val AS v FROM K) AS q", "SELECT * FROM K ORDER BY val",
            "SELECT rank() OVER (ORDER BY val) FROM K", "SELECT i FROM K WHERE val", "SELECT CASE WHEN val THEN 1 END FROM K",
            "SELECT K.i FROM K JOIN K AS k USING (val)", "SELECT greatest(val, 0) FROM K", "SELECT max(val || '') FROM K",
            "SELECT sum(val) FROM K", "SELECT val + 1 FROM K", "SELECT val < '1' FROM K", "SELECT val::float8 FROM K",
        ):  # fmt: skip
            with self.subTest(statement), self.assertRaisesRegex(Exception, "columns re and im"):
                self.rows(statement)
        self.run_all("CREATE TABLE kt AS SELECT i, re, im, val::text AS shown FROM K")
        self.assertEqual(self.rows("SELECT sum(re), sum(im), max(shown) FROM kt"), [(4.5, -6, "3.0-2.0j")])
        self.assertEqual(self.rows("SELECT i, count(val) FROM K WHERE val = '1.5-2.0j' GROUP BY i"), [(1, 1)])
        self.assertEqual(self.rows("SELECT val, re FROM (EINSUM Z[i] = K[i] * 2) AS q WHERE i = 1"), [("3.0-4.0j", 3)])
        self.rows("DROP TABLE kt")

    def test_defaults_are_values_of_their_columns(self):
        self.refused("22001", "CREATE TABLE e (a varchar(2) DEFAULT 'abc')", "ALTER TABLE t ADD COLUMN e varchar(2) DEFAULT 'abc'",
                     "ALTER TABLE t ALTER COLUMN v SET DEFAULT 'abcdef'")  # fmt: skip
        self.refused("22003", "CREATE TABLE e (a numeric(3,1) DEFAULT 1234)", "ALTER TABLE t ALTER n SET DEFAULT 12345",
                     "CREATE TABLE e (a smallint DEFAULT 40000)")  # fmt: skip
        self.refused("22007", "ALTER TABLE t ALTER COLUMN d SET DEFAULT 'soon'")
        self.refused("22P02", "CREATE TABLE e (a int[] DEFAULT '{x}')", "CREATE TABLE e (a json DEFAULT '{bad}')")
        self.run_all("CREATE TABLE e (id int, a varchar(3) DEFAULT 'äöü', b numeric(3,1) DEFAULT 1.25, c int[] DEFAULT '{1}',"
                     " d varchar(2) DEFAULT 'ab' || 'c')", "ALTER TABLE e ALTER a SET DEFAULT 'xyz'")  # fmt: skip
        self.refused("22001", "INSERT INTO e (id) VALUES (1)")
        self.rows("INSERT INTO e (id, d) VALUES (1, 'd')")
        self.assertEqual(self.rows("SELECT * FROM e"), [(1, "xyz", decimal.Decimal("1.3"), [1], "d")])
        self.rows("DROP TABLE e")

    def test_identity_that_always_counts(self):
        self.rows("CREATE TABLE g (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, x text)")
        self.rows("INSERT INTO g (x) VALUES ('a')")
        self.rows("INSERT INTO g VALUES (DEFAULT, 'b')")
        self.refused("428C9", "INSERT INTO g (id, x) VALUES (7, 'c')", "INSERT INTO g VALUES (7, 'c')",
                     "INSERT INTO g (id) SELECT 7", "UPDATE g SET id = 9")  # fmt: skip
        self.rows("INSERT INTO g (id, x) OVERRIDING SYSTEM VALUE VALUES (7, 'c')")
        self.rows("INSERT INTO g (x) VALUES ('d')")
        self.rows("ALTER TABLE g ADD UNIQUE (x)")
        self.refused("428C9", "INSERT INTO g (id, x) VALUES (9, 'e')")
        self.assertEqual(self.rows("SELECT * FROM g ORDER BY id"), [(1, "a"), (2, "b"), (7, "c"), (8, "d")])
        self.run_all("DROP TABLE g", "CREATE TABLE g (id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, x text)",
                     "INSERT INTO g (id, x) VALUES (7, 'c')", "DROP TABLE g")  # fmt: skip

    def test_definitions_with_mistakes(self):
        self.refused("42601", "CREATE TABLE e (a int uniqe)", "CREATE TABLE e (a int refrences t)", "CREATE TABLE e (a int unsigned)",
                     "CREATE TABLE e (a int auto_increment primary key)", "ALTER TABLE t ADD COLUMN e int uniqe")  # fmt: skip
        self.refused("42704", "CREATE TABLE e (a varchra(5))", "CREATE TABLE e (a nosuchtype)", "CREATE TABLE e (a nosuch[])",
                     "ALTER TABLE t ADD COLUMN e nosuchtype", "CREATE TABLE e (a nosuch, b, c text)")  # fmt: skip
        self.refused("0A000", "CREATE TABLE e (LIKE t)")
        self.refused("42P01", "CREATE TABLE e (a int REFERENCES nosuch (a))", "CREATE VIEW e AS SELECT * FROM nosuch",
                     "CREATE TABLE e (a int, FOREIGN KEY (a) REFERENCES nosuch (a))",
                     "ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES nosuch (a)")  # fmt: skip
        self.run_all("CREATE TABLE e (a, b INTEGER PRIMARY KEY AUTOINCREMENT, c BLOB, d DATETIME, CHECK (b > 0), UNIQUE (c, d))",
                     "CREATE TABLE own (id int PRIMARY KEY, up int REFERENCES own)", "DROP TABLE own", "DROP TABLE e")  # fmt: skip


class Copied(WithServer):
    script = SCRIPT

    def setUp(self):
        self.connection = psycopg.connect(**self.server.arguments(), autocommit=True)
        self.addCleanup(self.connection.close)
        self.connection.execute(TABLE)
        self.addCleanup(self.connection.execute, "DROP TABLE t")

    def refused(self, sqlstate, columns, options, *rows):
        with self.assertRaises(psycopg.Error) as caught, self.connection.cursor().copy(f"COPY t ({columns}) FROM STDIN {options}") as copy:
            for row in rows:
                copy.write(row)
        self.assertEqual(caught.exception.sqlstate, sqlstate, (columns, options, rows, caught.exception))
        self.assertIn("COPY t, line 1", str(caught.exception.diag.context))

    def test_texts(self):
        for options in ("", "(FORMAT csv, DELIMITER ';')"):
            for column, value, sqlstate in (
                ("v", "long", "22001"), ("n", "99999", "22003"), ("a", "{1,x}", "22P02"), ("j", "{bad}", "22P02"),
                ("f", "nan", "0A000"), ("d", "2024-02-30", "22008"), ("u", "x", "22P02"), ("w", "2024-01-01", "22007"),
            ):  # fmt: skip
                self.refused(sqlstate, column, options, value + "\n")
        with self.connection.cursor().copy("COPY t (id, v, n, a, j, w) FROM STDIN") as copy:
            copy.write("1\tab\t3.14\t{1, 2}\t[1]\t1-2\n")
        self.assertEqual(self.connection.execute("SELECT v, n, a::text, j, w::text FROM t").fetchall(),
                         [("ab", decimal.Decimal("3.1"), "{1,2}", [1], "1 year 2 mons")])  # fmt: skip

    def test_binary_values(self):
        types = {"id": "int4", "f": "float8", "d": "date", "v": "varchar", "n": "numeric", "a": "int4[]", "j": "json", "b": "bytea",
                 "u": "uuid", "s": "timestamp", "w": "interval"}  # fmt: skip
        row = (1, 1.5, datetime.date(2024, 2, 3), "ab", decimal.Decimal("3.1"), [1, None], psycopg.types.json.Json([1]), b"\0\xff",
               uuid.UUID(int=5), datetime.datetime(2024, 1, 1, 2, 3), datetime.timedelta(days=1, hours=2))  # fmt: skip
        with self.connection.cursor().copy("COPY t FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(list(types.values()))
            copy.write_row(row)
        found = self.connection.execute("SELECT * FROM t").fetchone()
        self.assertEqual(found, (*row[:6], [1], *row[7:]))
        for column, value, sqlstate in (("v", "long", "22001"), ("n", decimal.Decimal(99999), "22003"), ("f", math.nan, "0A000"),
                                        ("n", decimal.Decimal("nan"), "0A000")):  # fmt: skip
            with self.subTest(column), self.assertRaises(psycopg.Error) as caught:
                with self.connection.cursor().copy(f"COPY t ({column}) FROM STDIN (FORMAT binary)") as copy:
                    copy.set_types([types[column]])
                    copy.write_row((value,))
            self.assertEqual(caught.exception.sqlstate, sqlstate, caught.exception)

    def test_identity_comes_with_the_rows(self):
        self.connection.execute("CREATE TABLE g (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, x text)")
        with self.connection.cursor().copy("COPY g FROM STDIN") as copy:
            copy.write("7\ta\n")
        self.assertEqual(self.connection.execute("SELECT * FROM g").fetchall(), [(7, "a")])
        self.connection.execute("DROP TABLE g")

    def test_parameters_are_no_nan(self):
        for statement in ("INSERT INTO t (id, f) VALUES (1, %b)", "INSERT INTO t (id, f) VALUES (1, %s)", "SELECT %b::float8"):
            with self.subTest(statement), self.assertRaises(psycopg.errors.FeatureNotSupported):
                self.connection.execute(statement, (math.nan,))
        self.assertEqual(self.connection.execute("SELECT count(*) FROM t").fetchone(), (0,))

    def test_arrays_of_asyncpg(self):
        async def run():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            dates = [datetime.date(2024, 1, 1), None]
            self.assertEqual(await connection.fetchval("SELECT $1::date[]", dates), dates)
            self.assertEqual(await connection.fetchval("SELECT $1::uuid[]", [uuid.UUID(int=3)]), [uuid.UUID(int=3)])
            moments = [datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)]
            self.assertEqual(await connection.fetchval("SELECT $1::timestamp with time zone[]", moments), moments)
            await connection.execute("INSERT INTO t (id, a) VALUES (1, $1)", [1, 2])
            self.assertEqual(await connection.fetchval("SELECT a FROM t WHERE id = ANY($1)", [1, 5]), [1, 2])
            await connection.close()

        asyncio.run(run())


del WithConnection, WithServer

if __name__ == "__main__":
    unittest.main()
