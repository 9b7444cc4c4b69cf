"""EXPLAIN of SQL as clients of PostgreSQL write it: a plan in one column, which the server makes of SQLite's.

    explain_test.py EINDB
"""

import json
import unittest

import psycopg

from served import WithServer


class ExplainTest(WithServer):
    def setUp(self):
        self.connection = psycopg.connect(**self.server.arguments(), autocommit=True)
        self.addCleanup(self.connection.close)

    def lines(self, sql, parameters=None):
        cursor = self.connection.execute(sql, parameters)
        self.assertEqual([column.name for column in cursor.description], ["QUERY PLAN"])
        self.assertTrue(cursor.statusmessage.startswith("EXPLAIN"), cursor.statusmessage)
        return [row[0] for row in cursor.fetchall()]

    def plan(self, sql):
        found = self.lines(sql)
        self.assertEqual(len(found), 1)
        return found[0][0] if isinstance(found[0], list) else json.loads(found[0])[0]

    def refused(self, sql, state, text):
        with self.assertRaisesRegex(psycopg.Error, text) as caught:
            self.connection.execute(sql)
        self.assertEqual(caught.exception.sqlstate, state)

    def test_a_query(self):
        self.assertEqual(self.lines("EXPLAIN SELECT name FROM t"), ["Query", "  ->  SCAN t"])
        self.assertEqual(self.lines("explain select n from t where rowid = 1"),
                         ["Query", "  ->  SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"])
        self.assertEqual(self.lines("EXPLAIN VERBOSE WITH a AS (SELECT 1 AS x) SELECT x FROM a")[0], "Query")

    def test_parts_stand_below_what_they_are_a_part_of(self):
        self.assertEqual(self.lines("EXPLAIN SELECT n FROM t UNION ALL SELECT n FROM t"),
                         ["Query", "  ->  COMPOUND QUERY", "        ->  LEFT-MOST SUBQUERY", "              ->  SCAN t",
                          "        ->  UNION ALL", "              ->  SCAN t"])  # fmt: skip

    def test_statements_that_write_are_not_run(self):
        for sql, root in (("INSERT INTO t VALUES ('c', 3)", "Insert"), ("UPDATE t SET n = 0", "Update"),
                          ("DELETE FROM t", "Delete")):  # fmt: skip
            self.assertEqual(self.lines("EXPLAIN " + sql)[0], root)
        self.assertEqual(self.connection.execute("SELECT count(*), sum(n) FROM t").fetchone(), (2, 3))

    def test_analyze_counts_rows(self):
        for sql in ("EXPLAIN ANALYZE SELECT * FROM t", "EXPLAIN (ANALYZE on, BUFFERS, COSTS off, TIMING off) SELECT * FROM t"):
            found = self.lines(sql)
            self.assertEqual(found[0], "Query (actual rows=2)")
            self.assertRegex(found[-1], r"^Execution Time: \d+\.\d{3} ms$")
        self.assertEqual(self.lines("EXPLAIN (ANALYZE off) SELECT * FROM t")[0], "Query")
        self.refused("EXPLAIN ANALYZE DELETE FROM t", "0A000", "runs queries alone")

    def test_json(self):
        self.assertEqual(self.plan("EXPLAIN (FORMAT JSON) SELECT * FROM t"),
                         {"Plan": {"Node Type": "Query", "Plans": [{"Node Type": "SCAN t"}]}})
        analyzed = self.plan("EXPLAIN (FORMAT 'json', ANALYZE) SELECT * FROM t")
        self.assertEqual(analyzed["Plan"]["Actual Rows"], 2)
        self.assertGreater(analyzed["Execution Time"], 0)

    def test_options(self):
        self.refused("EXPLAIN (FORMAT xml) SELECT 1", "0A000", "as text or as JSON")
        self.refused("EXPLAIN (COLOURS) SELECT 1", "42601", 'unrecognized EXPLAIN option "colours"')

    def test_parameters(self):
        self.assertEqual(self.lines("EXPLAIN ANALYZE SELECT * FROM t WHERE n = %s", [2])[0], "Query (actual rows=1)")
        self.assertEqual(self.lines("EXPLAIN SELECT * FROM t WHERE n = %s::bigint", [2]), ["Query", "  ->  SCAN t"])

    def test_errors_have_their_place(self):
        with self.assertRaises(psycopg.Error) as caught:
            self.connection.execute("EXPLAIN ANALYZE SELECT nam FROM t")
        self.assertEqual(caught.exception.diag.statement_position, "24")

    def test_the_catalog_and_tensors(self):
        self.assertEqual(self.lines("EXPLAIN ANALYZE SELECT val FROM X WHERE i = 1")[0], "Query (actual rows=4)")
        self.assertEqual(self.lines("EXPLAIN ANALYZE SELECT 1 FROM pg_catalog.pg_class WHERE relname = 't'")[0],
                         "Query (actual rows=1)")

    def test_what_is_the_engines_stays_so(self):
        self.assertIn("EinGraph", self.connection.execute("EXPLAIN EINSUM Z[i] = SUM(X[i,j])").fetchone()[0])
        self.assertIn("EinGraph", self.connection.execute("EXPLAIN (ANALYZE) EINSUM Z[i] = SUM(X[i,j])").fetchone()[0])
        self.assertEqual(self.connection.execute("EXPLAIN QUERY PLAN SELECT * FROM t").fetchone()[3], "SCAN t")

    def test_in_a_failed_transaction_it_waits_for_its_end(self):
        with self.assertRaises(psycopg.errors.InFailedSqlTransaction), self.connection.transaction():
            with self.assertRaises(psycopg.Error):
                self.connection.execute("SELECT absent FROM t")
            self.connection.execute("EXPLAIN SELECT * FROM t")

    def test_the_extended_protocol_describes_it(self):
        for _ in range(2):
            cursor = self.connection.execute("EXPLAIN SELECT * FROM t", prepare=True)
            self.assertEqual(cursor.fetchall(), [("Query",), ("  ->  SCAN t",)])


if __name__ == "__main__":
    unittest.main()
