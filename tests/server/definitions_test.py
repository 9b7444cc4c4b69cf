"""Definitions keep PostgreSQL's meaning: views, CREATE TABLE AS, CHECK, DEFAULT, generated columns and indices, read from
the shell, too."""

import subprocess
import unittest

from served import EINDB, WithServer
from tables_test import WithConnection

VIEWS = """
CREATE TENSOR X AS EINSUM X[i 3, j 4] = i * 4 + j;
CREATE TABLE p (id INTEGER PRIMARY KEY, a INTEGER, name TEXT, at TIMESTAMP);
INSERT INTO p VALUES (1, 7, 'Ada', '2026-01-31 23:59:59'), (2, NULL, 'ÉVA', NULL);
"""


class Definitions(WithConnection):
    script = VIEWS

    def tearDown(self):
        for view in ("w", "v"):
            self.rows(f"DROP VIEW IF EXISTS {view}")
        self.rows("DROP TABLE IF EXISTS t")

    def read_in_shell(self, statement):
        done = subprocess.run([EINDB, self.server.database, "--readonly", "--csv", "-c", statement],
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        return done.stdout.splitlines()[1:] if done.returncode == 0 else done.stderr

    def test_a_view_divides_as_its_query_does(self):
        self.run_all("CREATE VIEW v AS SELECT id, a / (id - 1) AS q FROM p WHERE id > 1",
                     "CREATE VIEW w AS SELECT 7 / id AS q, name ILIKE 'é%' AS hit FROM public.p")  # fmt: skip
        self.assertEqual(self.rows("SELECT * FROM v"), [(2, None)])
        self.assertEqual(self.rows("SELECT * FROM w ORDER BY q"), [(3, True), (7, False)])
        self.assertEqual(self.read_in_shell("SELECT q FROM w ORDER BY q"), ["3", "7"])
        self.run_all("CREATE OR REPLACE VIEW v AS SELECT a / (id - 1) AS q FROM p WHERE id = 1")
        self.refused("22012", "SELECT * FROM v")
        self.assertIn("division by zero", self.read_in_shell("SELECT * FROM v"))

    def test_what_was_written_is_shown(self):
        self.run_all("CREATE VIEW v (half, d) AS\n SELECT a / 2, at::date FROM p",
                     "CREATE TABLE t (a int CHECK (a % 3 <> 1), b text DEFAULT upper('x'), c int GENERATED ALWAYS AS (a / 2) STORED)",
                     "CREATE INDEX t_half ON t ((a / 2)) WHERE lower(b) <> 'z'")  # fmt: skip
        self.assertEqual(self.value("SELECT pg_get_viewdef('v'::regclass)"), "SELECT a / 2, at::date FROM p;")
        self.assertEqual(self.value("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 't'::regclass"),
                         "CHECK ((a % 3 <> 1))")  # fmt: skip
        self.assertEqual(self.rows("SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 't'::regclass"
                                   " ORDER BY adnum"), [("upper('x')",), ("a / 2",)])  # fmt: skip
        self.assertIn("(a / 2)", self.value("SELECT pg_get_indexdef('t_half'::regclass)"))
        self.assertIn("lower(b) <> 'z'", self.value("SELECT pg_get_indexdef('t_half'::regclass)"))
        self.run_all("ALTER TABLE t RENAME COLUMN a TO n")
        self.assertNotIn("a / 2", self.value("SELECT pg_get_indexdef('t_half'::regclass)"))

    def test_views_have_types(self):
        self.run_all("CREATE VIEW v AS SELECT at::date AS d, at + interval '1 day' AS t, a * 2 AS n FROM p WHERE id = 1")
        row = self.rows("SELECT * FROM v")[0]
        self.assertEqual([str(value) for value in row], ["2026-01-31", "2026-02-01 23:59:59", "14"])

    def test_a_view_over_a_query_of_eindb(self):
        self.run_all("CREATE VIEW v AS SELECT i, val::int AS n FROM (EINSUM Z[i] = SUM(X[i,j])) AS z WHERE val > 6")
        self.assertEqual(self.rows("SELECT i, n / 2 FROM v ORDER BY i"), [(1, 11), (2, 19)])
        self.assertEqual(self.rows("SELECT column_name FROM information_schema.columns WHERE table_name = 'v'"
                                   " ORDER BY ordinal_position"), [("i",), ("n",)])  # fmt: skip
        self.assertIn("EINSUM Z[i] = SUM(X[i,j])", self.value("SELECT pg_get_viewdef('v'::regclass)"))
        self.run_all("ALTER TABLE p RENAME TO people", "ALTER TABLE people RENAME TO p")
        self.assertEqual(self.read_in_shell("SELECT n FROM v ORDER BY i"), ["22", "38"])
        self.refused("2BP01", "DROP TENSOR X RESTRICT")

    def test_expressions_of_tables(self):
        self.run_all("CREATE TABLE t (a int CHECK (a / 2 > 0 AND a::text ~ '^[0-9]+$'), b text DEFAULT E'x\\ty',"
                     " c int DEFAULT 7 / 2, d int GENERATED ALWAYS AS (a / 2) STORED, e boolean DEFAULT true,"
                     " f timestamptz DEFAULT now(), g numeric(6,2) DEFAULT 1.5, h text DEFAULT 'a' || 'b', i int DEFAULT -1)",
                     "INSERT INTO t (a) VALUES (7)")  # fmt: skip
        self.assertEqual(self.rows("SELECT a, b, c, d, e, f IS NOT NULL, g, h, i FROM t"),
                         [(7, "x\ty", 3, 3, True, True, 1.5, "ab", -1)])  # fmt: skip
        self.refused("23514", "INSERT INTO t (a) VALUES (1)")
        self.run_all("ALTER TABLE t ADD COLUMN j int DEFAULT '4'", "INSERT INTO t (a) VALUES (9)")
        self.assertEqual(self.rows("SELECT j FROM t ORDER BY a"), [(4,), (4,)])
        self.refused("42703", "CREATE TABLE u (a int CHECK (b > 0))")
        self.refused("42804", "CREATE TABLE u (a int CHECK (a + 1))")

    def test_create_table_as(self):
        self.run_all("CREATE TABLE t (half, name) AS SELECT 7 / id, upper(name), at::date AS at FROM p")
        rows = self.rows("SELECT * FROM t ORDER BY 1")
        self.assertEqual([row[:2] for row in rows], [(3, "ÉVA"), (7, "ADA")])
        self.assertEqual(str(rows[1][2]), "2026-01-31")
        self.run_all("DROP TABLE t", "CREATE TABLE t AS SELECT id, name AS n FROM p WITH NO DATA")
        self.assertEqual(self.rows("SELECT count(*) FROM t"), [(0,)])
        self.refused("22012", "CREATE TABLE u AS SELECT 1 / 0 AS x")
        self.refused("42601", "CREATE TABLE u (a, b) AS SELECT 1 AS x")

    def test_views_of_tensors(self):
        self.run_all("CREATE VIEW v AS SELECT i / 2 AS half, sum(val) AS s FROM X GROUP BY 1")
        self.assertEqual(self.rows("SELECT * FROM v ORDER BY 1"), [(0, 28.0), (1, 38.0)])
        self.assertEqual(self.read_in_shell("SELECT half FROM v ORDER BY s"), ["0", "1"])

    def test_refused(self):
        self.refused("0A000", "CREATE MATERIALIZED VIEW v AS SELECT 1 AS x",
                     "CREATE VIEW v WITH (security_barrier) AS SELECT 1 AS x",
                     "CREATE VIEW v AS SELECT a FROM p WITH CHECK OPTION")  # fmt: skip
        self.refused("3F000", "CREATE VIEW other.v AS SELECT 1 AS x", "CREATE TABLE other.t (a int)")
        self.refused("42703", "CREATE VIEW v AS SELECT nothing FROM p")


del WithConnection, WithServer

if __name__ == "__main__":
    unittest.main()
