"""PostgreSQL's statements over whole tables, and about the session, that SQLite has no single statement for."""

import unittest

import psycopg
from served import WithServer


class Client(WithServer):
    def setUp(self):
        self.connection = psycopg.connect(**self.server.arguments(), autocommit=True)
        self.addCleanup(self.connection.close)
        for table in ("kid", "people"):
            self.run_sql(f"DROP TABLE IF EXISTS {table} CASCADE")
        self.run_sql("CREATE TABLE people (id int, name text)")
        self.run_sql("INSERT INTO people VALUES (1, 'a'), (2, 'b')")

    def run_sql(self, statement, *parameters):
        cursor = self.connection.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else cursor.statusmessage

    def assert_refused(self, pattern, statement):
        with self.assertRaisesRegex(psycopg.Error, pattern) as caught:
            self.run_sql(statement)
        return caught.exception.sqlstate


class Constraints(Client):
    def test_a_primary_key_holds_for_rows_of_before_and_after(self):
        self.run_sql("CREATE INDEX by_name ON people (name)")
        self.assertEqual(
            self.run_sql("ALTER TABLE ONLY public.people ADD CONSTRAINT k PRIMARY KEY (id)"), "ALTER TABLE"
        )
        self.assertEqual(self.run_sql("SELECT * FROM people ORDER BY id"), [(1, "a"), (2, "b")])
        self.assert_refused("UNIQUE", "INSERT INTO people VALUES (1, 'x')")
        self.assert_refused("NOT NULL", "INSERT INTO people VALUES (NULL, 'x')")
        indices = "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'people'::regclass ORDER BY 1"
        self.assertEqual(self.run_sql(indices), [("by_name",), ("k",)])
        self.assertEqual(self.assert_refused("multiple primary keys", "ALTER TABLE people ADD PRIMARY KEY (name)"), "42P16")

    def test_rows_that_a_constraint_does_not_take(self):
        self.run_sql("INSERT INTO people VALUES (2, 'c')")
        self.assert_refused("UNIQUE", "ALTER TABLE people ADD PRIMARY KEY (id)")
        self.assert_refused("UNIQUE", "ALTER TABLE people ADD UNIQUE (id)")
        self.assert_refused("CHECK", "ALTER TABLE people ADD CHECK (id < 2)")
        self.assertEqual(self.assert_refused("does not exist", "ALTER TABLE people ADD PRIMARY KEY (nosuch)"), "42703")
        self.assertEqual(self.assert_refused("does not exist", "ALTER TABLE nosuch ADD PRIMARY KEY (id)"), "42P01")
        self.assertEqual(self.run_sql("SELECT count(*) FROM people"), [(3,)])

    def test_a_foreign_key_is_checked_and_other_tables_keep_theirs(self):
        self.run_sql("ALTER TABLE people ADD PRIMARY KEY (id)")
        self.run_sql("CREATE TABLE kid (p int)")
        self.run_sql("INSERT INTO kid VALUES (7)")
        refers = "ALTER TABLE kid ADD CONSTRAINT k FOREIGN KEY (p) REFERENCES public.people (id)"
        self.assertEqual(self.assert_refused("(?i)foreign key", refers), "23503")
        self.run_sql("DELETE FROM kid")
        self.assertEqual(self.run_sql(refers), "ALTER TABLE")
        self.assert_refused("the table kid refers to people", "ALTER TABLE people ADD UNIQUE (name)")

    def test_a_condition_is_read_as_postgresql_reads_it(self):
        self.run_sql("ALTER TABLE people ADD CONSTRAINT first CHECK (name LIKE 'a%' OR name >= 'b')")
        self.assert_refused("constraint failed: first", "INSERT INTO people VALUES (3, 'A')")
        self.run_sql("CREATE TABLE kid (n float8 CHECK (n * 2 < 9))")
        self.assert_refused(r"constraint failed: n \* 2 < 9", "INSERT INTO kid VALUES (5)")
        self.assertEqual(self.assert_refused("does not exist", "ALTER TABLE people ADD CHECK (nosuch > 1)"), "42703")

    def test_columns_that_sqlite_does_not_add(self):
        add = "ALTER TABLE people ADD COLUMN "
        for column, sqlstate in (("a int NOT NULL", "23502"), ("a int PRIMARY KEY", "23502"), ("name text UNIQUE", "42701"),
                                 ("a int DEFAULT 0 CHECK (a > 0)", "23514"), ("a int UNIQUE REFERENCES nosuch (x)", "42P01"),
                                 ("a int UNIQUE CHECK (nosuch > 0)", "42703")):  # fmt: skip
            self.assertEqual(self.assert_refused("", add + column), sqlstate, column)
        self.run_sql("ALTER TABLE people ADD CONSTRAINT k UNIQUE (id)")
        for columns in ("a int UNIQUE", "b int GENERATED ALWAYS AS (id * 2) STORED", "c timestamptz DEFAULT now() NOT NULL",
                        "d uuid DEFAULT gen_random_uuid()", "e int[] DEFAULT '{1}'", "IF NOT EXISTS a int",
                        "f text CHECK (f LIKE 'x%'), ADD g varchar(3) DEFAULT ('p' || 'q')"):  # fmt: skip
            self.assertEqual(self.run_sql(add + columns), "ALTER TABLE", columns)
        self.assertEqual(self.run_sql("SELECT id, name, a, b, e, f, g FROM people WHERE c <= now() AND d IS NOT NULL ORDER BY id"),
                         [(1, "a", None, 2, [1], None, "pq"), (2, "b", None, 4, [1], None, "pq")])  # fmt: skip
        self.run_sql(add + "h char(3) DEFAULT 'x'")
        self.run_sql(add + "i timestamp(0) without time zone DEFAULT '2020-01-01 10:00'")
        self.assertEqual(self.run_sql("SELECT DISTINCT h, i::text FROM people"), [("x  ", "2020-01-01 10:00:00")])
        self.run_sql("INSERT INTO people (id, a) VALUES (3, 5)")
        self.assert_refused("UNIQUE", "INSERT INTO people (id, a) VALUES (4, 5)")
        self.assert_refused("UNIQUE", "INSERT INTO people (id) VALUES (1)")
        self.assert_refused("CHECK", "UPDATE people SET f = 'Xy'")
        self.run_sql("CREATE TABLE kid (n int)")
        self.run_sql("ALTER TABLE kid ADD id int PRIMARY KEY")
        self.assertEqual(self.assert_refused("NULL", "INSERT INTO kid (n) VALUES (1)"), "23502")

    def test_what_only_tells_how_tables_are_stored(self):
        self.run_sql("CREATE UNLOGGED TABLE kid (n int) WITH (fillfactor = 70, autovacuum_enabled = off) TABLESPACE x")
        self.run_sql("INSERT INTO kid VALUES (1)")
        self.run_sql("DROP TABLE kid")
        self.assert_refused("syntax", "CREATE TABLE kid (n int) WITH (oids)")


class SeveralTables(Client):
    def test_drop_and_truncate_of_several(self):
        self.run_sql("CREATE TABLE kid (id serial PRIMARY KEY, n int)")
        self.run_sql("INSERT INTO kid (n) VALUES (1), (2)")
        self.run_sql("CREATE VIEW names AS SELECT name FROM people")
        self.assertEqual(self.run_sql("TRUNCATE people, public.kid RESTART IDENTITY"), "TRUNCATE TABLE")
        self.run_sql("INSERT INTO kid (n) VALUES (1)")
        self.assertEqual(self.run_sql("SELECT id FROM kid"), [(1,)])
        self.assert_refused("nosuch", "DROP TABLE people, nosuch")
        self.assertEqual(self.run_sql("SELECT count(*) FROM people"), [(0,)], "all of a statement, or nothing")
        self.assertEqual(self.run_sql("DROP TABLE IF EXISTS people, nosuch, kid CASCADE"), "DROP TABLE")
        self.assert_refused("names", "SELECT * FROM names")

    def test_vacuum_and_analyze(self):
        for statement in ("VACUUM people", "VACUUM FULL", "VACUUM (VERBOSE, ANALYZE) public.people", "VACUUM ANALYZE"):
            self.assertEqual(self.run_sql(statement), "VACUUM")
        self.assertEqual(self.run_sql("SELECT 1 FROM pg_class LIMIT 1"), [(1,)])
        for statement in ("ANALYZE", "ANALYZE VERBOSE people"):
            self.assertEqual(self.run_sql(statement), "ANALYZE")
        for statement in ("ANALYZE TENSOR X", "ANALYZE TENSOR"):
            self.assertEqual(self.run_sql(statement), "ANALYZE TENSOR")
        self.assertEqual(self.assert_refused("does not exist", "VACUUM nosuch"), "42P01")
        self.run_sql("BEGIN")
        self.assertEqual(self.assert_refused("inside a transaction", "VACUUM people"), "25001")
        self.run_sql("ROLLBACK")

    def test_a_lock_keeps_other_writers_off(self):
        self.assertEqual(self.assert_refused("transaction blocks", "LOCK TABLE people"), "25P01")
        with psycopg.connect(**self.server.arguments(), autocommit=True) as other:
            for begun in (False, True):
                self.run_sql("BEGIN")
                if begun:
                    self.run_sql("SELECT * FROM people")
                self.assertEqual(self.run_sql("LOCK TABLE people IN EXCLUSIVE MODE"), "LOCK TABLE")
                other.execute("SELECT * FROM people")
                with self.assertRaises(psycopg.Error) as caught:
                    other.execute("INSERT INTO people VALUES (3, 'c')")
                self.assertEqual(caught.exception.sqlstate, "55P03")
                self.run_sql("COMMIT")
            self.run_sql("BEGIN")
            self.run_sql("LOCK TABLE public.people IN ACCESS SHARE MODE")
            other.execute("INSERT INTO people VALUES (3, 'c')")
            self.assertEqual(self.assert_refused("does not exist", "LOCK nosuch"), "42P01")
            self.run_sql("ROLLBACK")


class Parameters(Client):
    def test_set_config_sets(self):
        self.assertEqual(self.run_sql("SELECT set_config('application_name', 'x', false)"), [("x",)])
        self.assertEqual(self.run_sql("SHOW application_name"), [("x",)])
        self.assertEqual(self.connection.info.parameter_status("application_name"), "x")
        self.run_sql("BEGIN")
        self.run_sql("SELECT set_config('search_path', 'elsewhere', true)")
        self.assertEqual(self.run_sql("SHOW search_path"), [("elsewhere",)])
        self.run_sql("COMMIT")
        self.assertEqual(self.run_sql("SHOW search_path"), [("public",)])
        self.assert_refused("nosuch", "SELECT set_config('nosuch', 'x', false)")

    def test_levels_of_isolation_have_the_names_that_were_given(self):
        self.run_sql("BEGIN ISOLATION LEVEL READ COMMITTED DEFERRABLE")
        self.assertEqual(self.run_sql("SHOW transaction_isolation"), [("read committed",)])
        self.assertEqual(self.run_sql("SHOW transaction_deferrable"), [("on",)])
        self.run_sql("COMMIT")
        self.assertEqual(self.run_sql("SHOW transaction_isolation"), [("serializable",)])
        self.run_sql("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, DEFERRABLE")
        self.assertEqual(self.run_sql("SHOW default_transaction_isolation"), [("repeatable read",)])
        self.assertEqual(self.run_sql("SHOW transaction_isolation"), [("repeatable read",)])
        self.assertEqual(self.run_sql("SHOW default_transaction_deferrable"), [("on",)])
        self.assert_refused("cannot be", "SET transaction_isolation = 'chaos'")

    def test_an_encoding_that_leaves_bytes_as_they_are(self):
        self.run_sql("SET client_encoding TO 'sql_ascii'")
        self.assertEqual(self.run_sql("SHOW client_encoding"), [(b"SQL_ASCII",)])
        self.run_sql("RESET client_encoding")
        self.assert_refused("LATIN1", "SET client_encoding TO 'LATIN1'")

    def test_prepared_statements_are_listed(self):
        self.connection.execute("SELECT %s::int8 + 41", [1], prepare=True)
        listed = "SELECT statement, parameter_types FROM pg_prepared_statements WHERE name <> ''"
        self.assertEqual(len(self.run_sql(listed)), 1)
        self.assertIn("+ 41", self.run_sql(listed)[0][0])

    def test_statements_of_ended_clients_are_gone(self):
        with psycopg.connect(**self.server.arguments(), autocommit=True) as other:
            for number in range(20):
                other.execute(f"SELECT %s::int8 + {number}", [1], prepare=True)
            self.assertEqual(len(other.execute("SELECT * FROM pg_prepared_statements").fetchall()), 20)
        self.assertEqual(self.run_sql("SELECT name FROM pg_prepared_statements WHERE name <> ''"), [])

    def test_what_is_not_there_is_refused_as_such(self):
        for statement in ("DO $$ BEGIN END $$", "NOTIFY news, 'x'", "CREATE EXTENSION hstore", "CREATE DATABASE d",
                          "CREATE TYPE r AS RANGE (subtype = int4)"):  # fmt: skip
            self.assertEqual(self.assert_refused("not", statement), "0A000", statement)

    def test_pg_sleep_is_cancelled(self):
        self.run_sql("SET statement_timeout = 100")
        self.assertEqual(self.assert_refused("statement_timeout", "SELECT pg_sleep(600)"), "57014")
        self.run_sql("RESET statement_timeout")
        self.assertEqual(self.run_sql("SELECT pg_sleep(0.001)"), [("",)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
