"""PostgreSQL's own programs at eindb's server: pgbench, postgres_fdw from a PostgreSQL, and pg_dump for one."""

import os
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server")]

import figures  # noqa: E402
import psycopg2  # noqa: E402
from random_sql_test import Postgres, postgres_programs  # noqa: E402
from served import WithServer  # noqa: E402
from waiting import HANG_SECONDS  # noqa: E402


def setUpModule():
    if not postgres_programs():
        figures.missing("PostgreSQL")


TABLES = """
CREATE TABLE people (id int PRIMARY KEY, name text NOT NULL DEFAULT 'x', born date, seen timestamp, pay numeric(10,2));
INSERT INTO people VALUES (1, 'ada', '1815-12-10', '2020-01-02 03:04:05', 12.5), (2, 'bob', NULL, NULL, NULL);
"""


def version():
    text = subprocess.run([program("postgres"), "--version"], capture_output=True, text=True, check=True).stdout
    return text.split()[2]


def program(name):
    return os.path.join(postgres_programs(), name)


class Pgbench(WithServer):
    script = ""

    def pgbench(self, *arguments):
        command = [program("pgbench"), "-h", "127.0.0.1", "-p", str(self.server.port), "-U", "ada", *arguments, "s"]
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)

    def sql(self, statement):
        done = self.server.psql("-c", statement)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_initialisation_and_the_default_script(self):
        for options in ((), ("--unlogged-tables", "--foreign-keys", "-F", "80")):
            done = self.pgbench("-i", "-s", "1", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.sql("SELECT count(*) FROM pgbench_accounts"), "100000")
        done = self.pgbench("-n", "-t", "50", "-c", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("100/100", done.stdout)
        self.assertEqual(self.sql("SELECT count(*) FROM pgbench_history"), "100")
        self.assertEqual(
            self.sql("SELECT sum(abalance) FROM pgbench_accounts"),
            self.sql("SELECT sum(delta) FROM pgbench_history"),
        )
        done = self.server.psql("-c", "INSERT INTO pgbench_branches (bid, bbalance) VALUES (1, 0)")
        self.assertIn("UNIQUE", done.stderr, "the primary key holds")
        done = self.server.psql("-c", "INSERT INTO pgbench_branches (bid, bbalance) VALUES (NULL, 0)")
        self.assertIn("NOT NULL", done.stderr)
        figures.note("pgbench", version(), initialised=True, transactions=100)


class ForeignTables(WithServer):
    script = TABLES

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.close)
        cls.connection = psycopg2.connect(host=cls.postgres.folder, user="ada", dbname="postgres")
        cls.addClassCleanup(cls.connection.close)
        cls.connection.autocommit = True
        try:
            cls.run_sql("CREATE EXTENSION postgres_fdw")
        except psycopg2.Error:
            figures.missing("postgres_fdw")
        cls.run_sql(f"CREATE SERVER e FOREIGN DATA WRAPPER postgres_fdw "
                    f"OPTIONS (host '127.0.0.1', port '{cls.server.port}', dbname 's')")  # fmt: skip
        cls.run_sql("CREATE USER MAPPING FOR ada SERVER e OPTIONS (user 'ada', password_required 'false')")
        cls.run_sql("CREATE FOREIGN TABLE f (id int, name text, born date, seen timestamp, pay numeric(10,2)) "
                    "SERVER e OPTIONS (table_name 'people')")  # fmt: skip

    @classmethod
    def run_sql(cls, statement):
        with cls.connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else cursor.rowcount

    def test_reading_and_writing(self):
        self.assertEqual(self.run_sql("SELECT id, name, born::text, pay::text FROM f ORDER BY id"),
                         [(1, "ada", "1815-12-10", "12.50"), (2, "bob", None, None)])  # fmt: skip
        self.assertEqual(self.run_sql("SELECT count(*), max(born)::text FROM f WHERE name LIKE 'a%'"),
                         [(1, "1815-12-10")])  # fmt: skip
        self.assertEqual(self.run_sql("SELECT a.id FROM f a JOIN f b USING (id) WHERE a.seen < now()"), [(1,)])
        self.assertEqual(self.run_sql("INSERT INTO f VALUES (3, 'eve', NULL, '2021-05-06 07:08:09', 3.25) RETURNING id"),
                         [(3,)])  # fmt: skip
        self.assertEqual(self.run_sql("UPDATE f SET name = name || '!' WHERE id = 3"), 1)
        self.assertEqual(self.run_sql("SELECT name, seen::text FROM f WHERE id = 3"), [("eve!", "2021-05-06 07:08:09")])
        self.run_sql("BEGIN")
        self.assertEqual(self.run_sql("DELETE FROM f"), 3)
        self.run_sql("ROLLBACK")
        self.assertEqual(self.run_sql("DELETE FROM f WHERE id = 3"), 1)
        self.assertEqual(self.run_sql("SELECT count(*) FROM f"), [(2,)])
        with self.assertRaises(psycopg2.Error):
            self.run_sql("INSERT INTO f VALUES (1, 'twice')")

    def test_import_of_the_schema(self):
        self.run_sql("CREATE SCHEMA remote")
        self.run_sql("IMPORT FOREIGN SCHEMA public LIMIT TO (people) FROM SERVER e INTO remote")
        self.assertEqual(self.run_sql("SELECT id, name FROM remote.people ORDER BY id"), [(1, "ada"), (2, "bob")])
        figures.note("postgres_fdw", version(), reads=True, writes=True, imports=True)


DUMPED = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', pay NUMERIC(10,2) CHECK (pay > 0), born DATE,
  seen TIMESTAMP, awake BOOLEAN, key UUID, notes JSON, size DOUBLE PRECISION, photo BYTEA, age INTERVAL, marks INTEGER[]);
INSERT INTO people VALUES (1, E'it''s\\t\\\\', 1.50, '2020-01-02', '2020-01-02 03:04:05', TRUE,
  'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a":1}', 1.5, '\\x0102', '1 day', '{1,2}');
INSERT INTO people (id) VALUES (2);
CREATE TABLE "House of" (person INTEGER REFERENCES people(id) ON DELETE CASCADE, street VARCHAR(5) UNIQUE,
  PRIMARY KEY (person, street));
INSERT INTO "House of" VALUES (1, 'p'), (2, 'q');
CREATE INDEX streets ON "House of" (street, person);
CREATE UNIQUE INDEX names ON people (name) WHERE id > 1;
CREATE VIEW named AS SELECT id, name, id + 1 AS next FROM people WHERE id > 0;
COMMENT ON TABLE people IS 'who';
CREATE TENSOR X AS EINSUM X[i 3, j 2] = i + 10 * j;
CREATE TENSOR K COMPLEX128 AS EINSUM K[i 2] = COMPLEX(i, 1);
CREATE MACRO twice(x) AS 2 * x;
"""
QUERIES = (
    "SELECT id, name, pay, born, seen, awake, key::text, notes::text, size, photo, age, marks FROM people ORDER BY id",
    'SELECT * FROM "House of" ORDER BY person',
    "SELECT * FROM named ORDER BY id",
    'SELECT i, j, val FROM "X" ORDER BY i, j',
    'SELECT i, re, im FROM "K" ORDER BY i',
)


class Dump(WithServer):
    """What pg_dump writes is loaded by psql into a PostgreSQL, which has the same rows, keys and indexes then."""

    script = ""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = cls.server.psql("-v", "ON_ERROR_STOP=1", text=DUMPED)
        assert done.returncode == 0, done.stderr
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.close)

    def dump(self, *arguments):
        command = [program("pg_dump"), "-h", "127.0.0.1", "-p", str(self.server.port), "-U", "ada", *arguments, "s"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def load(self, script, database):
        psql = ["psql", "-X", "-q", "-h", self.postgres.folder, "-U", "ada", "-v", "ON_ERROR_STOP=1"]
        for more, text in ((["-d", "postgres", "-c", f"CREATE DATABASE {database}"], ""), (["-d", database], script)):
            done = subprocess.run([*psql, *more], input=text, capture_output=True, text=True, timeout=HANG_SECONDS)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        connection = psycopg2.connect(host=self.postgres.folder, user="ada", dbname=database)
        self.addCleanup(connection.close)
        connection.autocommit = True
        return connection.cursor()

    def rows_here(self, query):
        connection = psycopg2.connect(host="127.0.0.1", port=self.server.port, user="ada", dbname="s")
        self.addCleanup(connection.close)
        with connection.cursor() as cursor:
            cursor.execute(query)
            return [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in cursor.fetchall()]

    def rows_there(self, cursor, query):
        cursor.execute(query)
        return [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in cursor.fetchall()]

    def test_a_whole_database(self):
        for number, options in enumerate(((), ("--inserts",))):
            there = self.load(self.dump(*options), f"whole{number}")
            for query in QUERIES:
                self.assertEqual(self.rows_there(there, query), self.rows_here(query), query)
        there.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname")
        self.assertEqual([name for (name,) in there.fetchall()],
                         ["House of_pkey", "House of_street_key", "K_pkey", "X_pkey", "names", "people_pkey", "streets"])
        there.execute("SELECT obj_description('people'::regclass)")
        self.assertEqual(there.fetchall(), [("who",)])
        for wrong in ("INSERT INTO people (id) VALUES (1)", "INSERT INTO people (id, pay) VALUES (3, -1)",
                      "INSERT INTO \"House of\" VALUES (7, 'x')", "INSERT INTO people (id, name) VALUES (4, NULL)"):
            with self.assertRaises(psycopg2.IntegrityError):
                there.execute(wrong)
        there.execute("DELETE FROM people WHERE id = 1")
        self.assertEqual(self.rows_there(there, QUERIES[1]), [(2, "q")])

    def test_one_table(self):
        script = self.dump("-t", "people")
        self.assertNotIn("House of", script)
        there = self.load(script, "one")
        self.assertEqual(self.rows_there(there, QUERIES[0]), self.rows_here(QUERIES[0]))
        there = self.load(self.dump("-t", '"X"'), "tensor")
        self.assertEqual(self.rows_there(there, QUERIES[3]), self.rows_here(QUERIES[3]))
        figures.note("pg_dump", version(), tables=True, tensors=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
