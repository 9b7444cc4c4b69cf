"""SQL inside statements of eindb has PostgreSQL's meaning, too: PREPARE, REPEAT, CREATE TENSOR, triggers. What only SQLite's
grammar reads is refused."""

import datetime
import unittest

import psycopg2

from served import WithServer

SCRIPT = """
CREATE TABLE p (id INTEGER PRIMARY KEY, n INTEGER, v VARCHAR(2), d DATE, x NUMERIC(6,2));
INSERT INTO p VALUES (1, 5, 'ab', '2024-01-31', 1);
CREATE TENSOR X AS EINSUM X[i 2, j 3] = CAST(i * 3 + j AS FLOAT64);
"""


class InnerSql(WithServer):
    script = SCRIPT

    def setUp(self):
        self.connection = psycopg2.connect(**self.server.arguments())
        self.connection.autocommit = True
        self.addCleanup(self.connection.close)

    def rows(self, statement):
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def refused(self, statement, sqlstate):
        with self.subTest(statement), self.assertRaises(psycopg2.Error) as caught:
            self.rows(statement)
        self.assertEqual(caught.exception.pgcode, sqlstate, f"{statement}: {caught.exception}")

    def test_parts_of_tensors(self):
        self.assertEqual(self.rows("SELECT * FROM X[1,:2]"), [(0, 3.0), (1, 4.0)])
        self.assertEqual(self.rows("SELECT row, val::int FROM X[row,-1] AS x WHERE x.row > 0"), [(1, 5)])
        self.assertEqual(self.rows("SELECT SUM(a.val * b.val) FROM X[0,:] a JOIN X[1,:] AS b USING (j)"), [(14.0,)])
        self.rows("CREATE VIEW first AS SELECT j, val FROM X[0,:]")
        self.assertEqual(self.rows("SELECT * FROM first WHERE j = 2"), [(2, 2.0)])
        self.rows("PREPARE part AS SELECT val FROM X[0,1:] WHERE val > $1")
        self.assertEqual(self.rows("EXECUTE part(1)"), [(2.0,)])
        with psycopg2.connect(**self.server.arguments()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT val FROM X[%s,:] WHERE j > %s", (1, 0))
            self.assertEqual(cursor.fetchall(), [(4.0,), (5.0,)])
        self.refused("SELECT nope FROM X[0:1,:]", "42703")
        self.refused("SELECT * FROM X[j+1,0]", "42601")
        self.refused("SELECT * FROM X[0:9,:]", "22023")
        self.refused("SELECT * FROM p[0:1]", "42601")

    def test_prepared(self):
        self.rows("PREPARE c AS SELECT cast('x' AS int)")
        self.refused("EXECUTE c", "22P02")
        self.rows("PREPARE q AS SELECT 1 / $1, v LIKE 'AB', d + 1 FROM p WHERE n = $2")
        self.assertEqual(self.rows("EXECUTE q(1, 5)"), [(1, False, datetime.date(2024, 2, 1))])
        self.assertEqual(self.rows("EXECUTE q(1, '5')"), [(1, False, datetime.date(2024, 2, 1))])
        self.refused("EXECUTE q(0, 5)", "22012")
        self.refused("EXECUTE q(1, 'five')", "22P02")
        self.refused("EXECUTE nosuch", "26000")
        self.refused("PREPARE q AS SELECT 1", "42P05")
        self.rows("PREPARE t AS SELECT * FROM p WHERE v = 5")
        self.refused("EXECUTE t", "42883")
        self.rows('PREPARE "of mine; and" AS SELECT 1')
        self.rows('DEALLOCATE "of mine; and"')
        self.refused('DEALLOCATE "of mine; and"', "26000")

    def test_prepared_writes(self):
        self.rows("CREATE TABLE w (a int, b varchar(2), d date)")
        self.rows("PREPARE ins AS INSERT INTO w VALUES ($1, $2, $3)")
        self.rows("EXECUTE ins(1, 'ab', '2024-2-1')")
        self.rows("EXECUTE ins(NULL, NULL, NULL)")
        self.rows("EXECUTE ins(2.5, 7, NULL)")
        self.refused("EXECUTE ins(1, 'toolong', NULL)", "22001")
        self.refused("EXECUTE ins('x', 'a', NULL)", "22P02")
        self.refused("EXECUTE ins(1, 'a', 'soon')", "22007")
        self.assertEqual(self.rows("SELECT * FROM w"), [(1, "ab", datetime.date(2024, 2, 1)), (None, None, None),
                                                          (3, "7", None)])

    def test_prepared_definitions(self):
        self.rows("PREPARE made AS CREATE TABLE made AS SELECT 7 / 2 AS h, DATE '2024-01-31' + 1 AS d, val"
                  " FROM (EINSUM s[] = SUM(X[i,j]))")
        self.rows("EXECUTE made")
        self.assertEqual(self.rows("SELECT * FROM made"), [(3, datetime.date(2024, 2, 1), 15.0)])
        self.rows("PREPARE shown AS CREATE VIEW shown AS SELECT h / 2 AS q FROM made")
        self.rows("EXECUTE shown")
        self.assertEqual(self.rows("SELECT q FROM shown"), [(1,)])
        self.rows("PREPARE failing AS CREATE TABLE failing AS SELECT 1 / 0 AS z")
        self.refused("EXECUTE failing", "22012")
        self.rows("PREPARE add AS INSERT INTO shifting VALUES ($1)")
        self.rows("CREATE TABLE shifting (a int)")
        self.rows("EXECUTE add('7')")
        self.rows("DROP TABLE shifting")
        self.rows("CREATE TABLE shifting (a date)")
        self.refused("EXECUTE add('7')", "22007")

    def test_stated_types(self):
        self.rows("PREPARE s(int, numeric(10,2), timestamp without time zone) AS SELECT $1 / 2, $2, $3")
        self.assertEqual(self.rows("EXECUTE s('7', 2.5, '2024-01-31')"),
                         [(3, 2.5, datetime.datetime(2024, 1, 31))])
        self.refused("EXECUTE s('x', 1, '2024-01-31')", "22P02")
        self.refused("PREPARE broken(int AS SELECT 1", "42601")

    def test_loops(self):
        self.rows("CREATE TABLE l (a int, b varchar(3), d date)")
        self.rows("REPEAT 3 AS round { INSERT INTO l VALUES (:round / 2, 'r' || :round, DATE '2024-01-31' + :round) }")
        self.assertEqual([row[:2] for row in self.rows("SELECT * FROM l ORDER BY b")], [(0, "r0"), (0, "r1"), (1, "r2")])
        self.rows("REPEAT 2 AS t { UPDATE l SET a = a + :t WHERE b = 'r2' }")
        self.assertEqual(self.rows("SELECT a FROM l WHERE b = 'r2'"), [(2,)])
        self.refused("REPEAT 1 { INSERT INTO l VALUES (1, 'toolong', NULL) }", "22001")
        self.refused("REPEAT 1 { INSERT INTO l VALUES (1, 'a', 'nodate') }", "22007")
        self.refused("REPEAT 1 { UPDATE l SET a = cast('q' AS int) }", "22P02")
        self.refused("REPEAT 1 { INSERT OR IGNORE INTO l VALUES ('q', 'a', NULL) }", "42601")
        self.assertEqual(self.rows("SELECT count(*) FROM l"), [(3,)])

    def test_tensors_of_rows(self):
        self.refused("CREATE TENSOR A (i 2) AS SELECT 0, cast('x' AS int)", "22P02")
        self.refused("CREATE TENSOR A (i 2) AS SELECT 0, '12abc' + 1", "22P02")
        self.refused("CREATE TENSOR A (i 2) AS SELECT 0, 1 / 0", "22012")
        self.rows("CREATE TENSOR A (i 3) AS SELECT v.a, '2'::int ^ v.a + extract(month FROM DATE '2024-02-01')"
                  " FROM (VALUES (0), (1)) AS v(a)")
        self.rows("INSERT INTO TENSOR A SELECT 2, count(*) FROM p WHERE v LIKE 'AB'")
        self.assertEqual(self.rows("SELECT val FROM A ORDER BY i"), [(3.0,), (4.0,), (0.0,)])
        self.refused("INSERT INTO TENSOR A SELECT 1, 1 / 0", "22012")

    def test_triggers(self):
        self.rows("CREATE TABLE log (b varchar(3), q int, s text)")
        self.rows("CREATE TABLE src (b text, n int)")
        self.rows("CREATE TRIGGER tr AFTER INSERT ON src WHEN new.n / 2 < 10 BEGIN"
                  " INSERT INTO log VALUES (new.b, 7 / new.n, CASE WHEN new.b LIKE 'A' THEN 'y' ELSE 'n' END);"
                  " UPDATE log SET s = s || '!' WHERE b = new.b; END")
        self.rows("INSERT INTO src VALUES ('a', 2)")
        self.assertEqual(self.rows("SELECT * FROM log"), [("a", 3, "n!")])
        self.refused("INSERT INTO src VALUES ('abxxxxx', 1)", "22001")
        self.refused("INSERT INTO src VALUES ('a', 0)", "22012")
        self.rows("INSERT INTO src VALUES ('toolong', 20)")
        self.refused("CREATE TRIGGER t2 AFTER INSERT ON src BEGIN INSERT INTO log VALUES (new.nope, 1, ''); END", "42703")
        self.rows("CREATE TRIGGER t3 BEFORE DELETE ON src BEGIN SELECT RAISE(ABORT, 'stays') WHERE old.n = 2; END")
        with self.assertRaisesRegex(psycopg2.Error, "stays"):
            self.rows("DELETE FROM src")
        self.rows("DROP TRIGGER tr")

    def test_other_grammars(self):
        for statement in ("SELECT 1/0 AS 'zero'", "SELECT cast('x' AS int) AS 'n'", "SELECT 1 < 2 < 3",
                          "INSERT OR IGNORE INTO p (id, n) VALUES ('q', 1)", "UPDATE OR IGNORE p SET v = 'waytoolong'",
                          "REPLACE INTO p (id, x) VALUES (502, 'nonum')", "SELECT * FROM p LIMIT 1, 2",
                          "CREATE VIEW bad AS SELECT 1 AS 'x'", "CREATE TABLE bad AS SELECT 1 AS 'x'",
                          "UPDATE p SET n = 1, n = 2", "WITH w AS (SELECT 1 AS 'x') SELECT * FROM w",
                          "EXPLAIN SELECT 1 AS 'x'", "DELETE FROM p WHERE n GLOB '1' LIMIT 1"):
            self.refused(statement, "42601")
        self.rows("CREATE TABLE untyped (a, b)")
        self.rows("EXPLAIN QUERY PLAN SELECT * FROM p")

    def test_queries_as_expressions(self):
        self.assertEqual(self.rows("SELECT i, j FROM X WHERE val > (EINSUM m[] = MEAN(X[i,j])) ORDER BY 1, 2"),
                         [(1, 0), (1, 1), (1, 2)])
        self.assertEqual(self.rows("SELECT EXISTS (EINSUM m[] = SUM(X[i,j])), 15 IN (EINSUM m[] = SUM(X[i,j]))"),
                         [(True, True)])
        self.assertEqual(self.rows("SELECT (EINSUM m[] = SUM(X[i,j])) / 2"), [(7.5,)])
        self.assertEqual(self.rows("WITH z AS (SELECT * FROM (EINSUM s[i] = SUM(X[i,j]))) SELECT val FROM z ORDER BY i"),
                         [(3.0,), (12.0,)])


if __name__ == "__main__":
    unittest.main()
