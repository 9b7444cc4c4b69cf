"""PostgreSQL's own programs at eindb's server: pgbench, and postgres_fdw from a PostgreSQL."""

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
