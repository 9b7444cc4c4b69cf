#!/usr/bin/python3
"""extension_test.py EXTENSION: what the extension gives to Python's sqlite3, beside what NumPy and SQLite compute."""
import json
import sqlite3
import sys
import unittest

import numpy as np
from hosts import Extension, run, value


def dense(rows, shape):
    array = np.zeros(shape)
    for *index, number in rows:
        array[tuple(index)] = np.nan if number is None else number
    return array


class Tensors(Extension):
    def setUp(self):
        super().setUp()
        self.db = self.connect()
        run(self.db, "CREATE TENSOR X AS EINSUM X[i 4, j 30, k 5] = 100 * i + 10 * j + k + 0.5")
        # The same cells as a table of SQLite's own, which says what a SELECT has to give.
        self.db.execute("CREATE TABLE plain (i INTEGER, j INTEGER, k INTEGER, val REAL)")
        self.db.execute("INSERT INTO plain SELECT * FROM X")

    def test_selects_are_those_of_a_table(self):
        self.assertEqual(value(self.db, "SELECT COUNT(*) FROM plain"), 600)
        for rest in ("WHERE i = 3", "WHERE j >= 7 AND j < 9 AND k = 2", "WHERE i = '2'", "WHERE i = 1.0", "WHERE i > 1.5",
                     "WHERE i = NULL", "WHERE i IS NULL", "WHERE i = 'x'", "WHERE i = -1", "WHERE i > 'x'", "WHERE i < 'x'",
                     "WHERE i IN (0, 3, 9)", "WHERE val > 120 AND i = 1", "WHERE i = j", "WHERE i BETWEEN 1 AND 2",
                     "WHERE i <> 1", "WHERE i = 2 OR j = 3", "WHERE i = x'31'", "WHERE NOT (i < 2)", "WHERE k = 1e300",
                     "WHERE j = 9223372036854775807"):  # fmt: skip
            for columns in ("*", "COUNT(*)", "val", "k, i", "SUM(val), MIN(j)"):
                order = " ORDER BY 1, 2, 3, 4" if columns == "*" else " ORDER BY 1, 2" if "," in columns else " ORDER BY 1"
                with self.subTest(rest=rest, columns=columns):
                    got, expected = (self.db.execute(f"SELECT {columns} FROM {table} {rest}{order}").fetchall()
                                     for table in ("X", "plain"))
                    self.assertEqual(got, expected)
        for order in ("i, j, k", "k, j, i", "i DESC, j, k DESC", "val DESC", "i + j, val", "j DESC, i, k LIMIT 7 OFFSET 3"):
            with self.subTest(order=order):
                got, expected = (self.db.execute(f"SELECT * FROM {table} ORDER BY {order}").fetchall() for table in ("X", "plain"))
                self.assertEqual(got, expected)

    def test_joins_groups_and_views(self):
        for text in ("SELECT a.i, b.k, SUM(a.val * b.val) FROM {0} a JOIN {0} b ON a.j = b.j AND a.k = 0 AND b.i = 1 "
                     "GROUP BY a.i, b.k ORDER BY 1, 2",
                     "SELECT i, MAX(val) FROM {0} GROUP BY i HAVING i > 1 ORDER BY i",
                     "SELECT n, (SELECT SUM(val) FROM {0} WHERE i = n AND j < n) FROM (SELECT 1 AS n UNION SELECT 3) ORDER BY n",
                     "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 3) "
                     "SELECT n, COUNT(val) FROM r LEFT JOIN {0} ON i = n AND k = n GROUP BY n"):  # fmt: skip
            got, expected = (self.db.execute(text.format(table)).fetchall() for table in ("X", "plain"))
            self.assertTrue(got)
            self.assertEqual(got, expected)
        self.db.execute("CREATE VIEW sums AS SELECT i, SUM(val) AS s FROM X GROUP BY i")
        self.assertEqual(value(self.db, "SELECT s FROM sums WHERE i = 2"), value(self.db, "SELECT SUM(val) FROM plain WHERE i = 2"))

    def test_conditions_reach_eindb(self):
        plan = self.db.execute("EXPLAIN QUERY PLAN SELECT i FROM X WHERE i = 1 AND j > 2 ORDER BY i, j").fetchall()
        self.assertIn('SELECT "i", "j", NULL, NULL, rowid FROM "X" WHERE "i" = $1 AND "j" > $2 ORDER BY', plan[0][3])
        self.assertEqual(len(plan), 1)  # and nothing is sorted here

    def test_types(self):
        run(self.db, "CREATE TENSOR N AS EINSUM N[i 2] = CAST(i AS INT64) * 9007199254740993")
        self.assertEqual(self.db.execute("SELECT * FROM N").fetchall(), [(0, 0), (1, 9007199254740993)])
        run(self.db, "CREATE TENSOR C AS EINSUM C[i 2] = COMPLEX(i, -2)")
        self.assertEqual(self.db.execute("SELECT *, re, im FROM C WHERE i = 1").fetchall(), [(1, "1.0-2.0j", 1.0, -2.0)])
        run(self.db, "CREATE TENSOR M AS EINSUM M[i 3] = LOG(i - 1.0)")
        self.assertEqual(self.db.execute("SELECT * FROM M").fetchall(), [(0, None), (1, float("-inf")), (2, 0.0)])
        run(self.db, "CREATE TENSOR s AS EINSUM s[] = 7")
        self.assertEqual(self.db.execute("SELECT * FROM s").fetchall(), [(7,)])
        self.db.execute("CREATE TABLE cities (name TEXT)")
        self.db.execute("INSERT INTO cities VALUES ('Oslo'), ('Rome')")
        run(self.db, "CREATE TENSOR W (city IN (SELECT name FROM cities)) AS SELECT 'Rome', 20.5")
        self.assertEqual(self.db.execute("SELECT * FROM W").fetchall(), [("Oslo", 0.0), ("Rome", 20.5)])
        self.assertEqual(self.db.execute("SELECT val FROM W WHERE city = 'Rome'").fetchall(), [(20.5,)])
        self.assertEqual(self.db.execute("SELECT val FROM W WHERE city = 'rome'").fetchall(), [])
        self.assertEqual(self.db.execute("SELECT val FROM W WHERE city = 'rome' COLLATE NOCASE").fetchall(), [(20.5,)])
        self.assertEqual(self.db.execute("SELECT city FROM W ORDER BY city DESC").fetchall(), [("Rome",), ("Oslo",)])

    def test_tensors_come_change_and_go(self):
        other = self.connect()
        self.assertEqual(value(other, "SELECT COUNT(*) FROM X"), 600)
        statement = "SELECT * FROM Y"  # which Python keeps compiled
        run(self.db, "CREATE TENSOR Y AS EINSUM Y[a 2] = a")
        self.assertEqual(self.db.execute(statement).fetchall(), [(0, 0), (1, 1)])
        self.assert_fails(other, "no such table: Y", statement)
        self.assertEqual(value(other, "SELECT eindb_refresh()"), 2)
        self.assertEqual(other.execute(statement).fetchall(), [(0, 0), (1, 1)])
        run(self.db, "CREATE OR REPLACE TENSOR Y AS EINSUM Y[b 1, c 1] = 0.5")
        for db in (self.db, other):
            self.assertEqual(db.execute(statement).fetchall(), [(0, 0, 0.5)])
            self.assertEqual(db.execute("SELECT c FROM Y").fetchall(), [(0,)])
        run(self.db, "DROP TENSOR Y")
        self.assert_fails(self.db, "no such table: Y", "SELECT a FROM Y")
        self.assert_fails(other, "no such table: Y", statement)
        self.assertEqual(value(other, "SELECT eindb_refresh()"), 1)
        self.assertEqual(value(self.db, "SELECT COUNT(*) FROM X"), 600)

    def test_names_of_others_are_left_alone(self):
        run(self.db, "CREATE TENSOR Einsum AS EINSUM Einsum[i 2] = i")
        self.assertEqual(self.db.execute("SELECT val FROM einsum('i->', 'Einsum')").fetchall(), [(1.0,)])
        self.db.execute("CREATE TEMP TABLE X (a)")  # a table hides the tensor
        self.assertEqual(self.db.execute("SELECT * FROM X").fetchall(), [])
        self.db.execute("DROP TABLE temp.X")
        self.assertEqual(value(self.db, "SELECT COUNT(*) FROM X"), 600)
        self.assert_fails(self.db, "may not be modified", "DELETE FROM X")


class Einsum(Extension):
    def setUp(self):
        super().setUp()
        self.db = self.connect(":memory:")
        self.random = np.random.default_rng(7)

    def fill(self, name, array, density=0.7):
        """A table of the array's cells, but for some, which are 0."""
        array = np.where(self.random.random(array.shape) < density, array, 0)
        array[tuple(n - 1 for n in array.shape)] = 1  # the last tells the extents
        columns = [f"c{d}" for d in range(array.ndim)]
        self.db.execute(f"CREATE TABLE {name} ({', '.join([*columns, 'v'])})")
        rows = [(*map(int, index), array[index].item()) for index in np.ndindex(array.shape) if array[index] != 0]
        self.db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * (array.ndim + 1))})", rows)
        return array

    def einsum(self, subscripts, *operands):
        """As rows of indices and value."""
        places = ", ?" * len(operands)
        rows = self.db.execute(f"SELECT key, val FROM einsum(?{places})", (subscripts, *operands)).fetchall()
        return [(*json.loads(key), number) for key, number in rows]

    def test_is_numpys(self):
        tables = {"A": (3, 4), "B": (4, 5), "C": (3, 4, 2), "v": (4,)}
        arrays = {name: self.fill(name, self.random.standard_normal(shape)) for name, shape in tables.items()}
        for subscripts, operands in (("ij,jk->ik", "AB"), ("ij->ji", "A"), ("ij->", "A"), ("ij,jk", "AB"), ("ijk,j->ik", "Cv"),
                                     ("ij,ij->ij", "AA"), ("ij , jk, j -> k", "ABv"), ("ij,kj->ik", "AA"), ("i,j->ij", "vv"),
                                     ("...j,jk->...k", "AB"), ("ij,ijk->k", "AC"), ("ba", "A")):  # fmt: skip
            with self.subTest(subscripts=subscripts):
                expected = np.einsum(subscripts, *(arrays[name] for name in operands))
                rows = self.einsum(subscripts, *operands)
                self.assertEqual(len(rows), expected.size)
                # Sums of at most 60 products of doubles around 1.
                np.testing.assert_allclose(dense(rows, expected.shape), expected, rtol=1e-13, atol=1e-13)

    def test_is_what_sqlite_sums(self):
        self.fill("A", self.random.integers(-5, 5, (6, 7)))
        self.fill("B", self.random.integers(-5, 5, (7, 4)))
        join = "SELECT A.c0, B.c1, SUM(A.v * B.v) AS s FROM A JOIN B ON A.c1 = B.c0 GROUP BY 1, 2"
        expected = self.db.execute(f"SELECT * FROM ({join}) WHERE s <> 0 ORDER BY 1, 2").fetchall()
        got = self.db.execute("SELECT i, k, val FROM einsum('ij,jk->ik', 'A', 'B') WHERE val <> 0 ORDER BY i, k").fetchall()
        self.assertEqual(got, expected)
        self.assertTrue(all(type(number) is int for *_, number in got))

    def test_few_cells_in_large_extents(self):
        self.db = self.connect()
        rows = {(int(i), int(j)): int(v) for i, j, v in self.random.integers(1, 300000, (5000, 3))}
        self.db.execute("CREATE TABLE L (i, j, v)")
        self.db.executemany("INSERT INTO L VALUES (?, ?, ?)", [(*index, number) for index, number in rows.items()])
        self.db.execute("CREATE VIRTUAL TABLE temp.P USING einsum('ij,kj->ik', L, L)")
        for got, expected in (
            ("SELECT i, val FROM einsum('ij->i', 'L') WHERE val <> 0", "SELECT i, SUM(v) FROM L GROUP BY i"),
            ("SELECT val FROM einsum('ij->', 'L')", "SELECT SUM(v) FROM L"),
            ("SELECT i, k, val FROM einsum('ij,kj->ik', 'L', 'L') WHERE val > 0",
             "SELECT a.i, b.i, SUM(a.v * b.v) FROM L a JOIN L b USING (j) GROUP BY a.i, b.i"),
            ("SELECT * FROM P WHERE val > 0.5", "SELECT a.i, b.i, SUM(a.v * b.v) FROM L a JOIN L b USING (j) GROUP BY a.i, b.i"),
            ("SELECT j, val FROM einsum('ij,i->j', '(SELECT i, j, v + 0.5 FROM L)', '(SELECT DISTINCT i, 2 FROM L)') WHERE 0 <> val",
             "SELECT j, SUM((v + 0.5) * 2) FROM L GROUP BY j"),
        ):  # fmt: skip
            with self.subTest(got=got):
                got, expected = sorted(self.db.execute(got).fetchall()), sorted(self.db.execute(expected).fetchall())
                self.assertGreater(len(got), 0)
                self.assertEqual(got, expected)  # integers and halves, all of them exact
        run(self.db, "CREATE TENSOR S (i 300000, j 300000) INT64 AS SELECT * FROM L")
        for condition in ("val <> 0", "val > 250000", "0 < val AND i = 7", "val = 5"):
            got, expected = (self.db.execute(f"SELECT * FROM {table} WHERE {condition.replace('val', name)} ORDER BY 1, 2").fetchall()
                             for table, name in (("S", "val"), ("L", "v")))
            self.assertEqual(got, expected)

    def test_zeros(self):
        self.db = self.connect()
        self.db.execute("CREATE TABLE N (i, v)")
        self.db.executemany("INSERT INTO N VALUES (?, ?)", [(0, -1.5), (2, 2), (3, None), (4, 0)])
        run(self.db, "CREATE TENSOR N2 (i 5) AS SELECT * FROM N")
        self.db.execute("CREATE TABLE dense AS SELECT * FROM N2")
        self.assertEqual(self.db.execute("SELECT i, val FROM dense WHERE i = 1").fetchall(), [(1, 0.0)])
        for condition in ("<> 0", "<> 1", "> 0", "> -1", ">= 0", ">= 1", "< 0", "< 1", "<= 0", "<= -1", "= 2", "= 0", "IS NULL",
                          "IS NOT NULL", "> '0'", "<> NULL", "IS NOT 0", "IN (0, 2)", "BETWEEN 1 AND 3", "<> i", "<> 0.0"):  # fmt: skip
            expected = self.db.execute(f"SELECT i, val FROM dense WHERE val {condition}").fetchall()
            for table in ("N2", "einsum('i->i', 'N')"):
                with self.subTest(condition=condition, table=table):
                    self.assertEqual(self.db.execute(f"SELECT i, val FROM {table} WHERE val {condition}").fetchall(), expected)

    def test_columns(self):
        self.fill("A", np.ones((2, 3)), 1)
        self.assertEqual(self.db.execute("SELECT * FROM einsum('ij->j', 'A') LIMIT 1").fetchall(), [("[0]", 2.0)])
        self.assertEqual(self.db.execute("SELECT j, i FROM einsum('ij->j', 'A') WHERE j = 2").fetchall(), [(2, None)])
        self.db.execute("CREATE VIRTUAL TABLE temp.Z USING einsum('ij,kj->ik', A, A)")
        cursor = self.db.execute("SELECT * FROM Z WHERE i = 1 AND k = 0")
        self.assertEqual([column[0] for column in cursor.description], ["i", "k", "val"])
        self.assertEqual(cursor.fetchall(), [(1, 0, 3.0)])
        self.db.execute("UPDATE A SET v = 2")  # a table that is computed for each SELECT
        self.assertEqual(value(self.db, "SELECT val FROM Z WHERE i = 1 AND k = 0"), 12.0)
        self.db.execute("CREATE VIRTUAL TABLE temp.T USING einsum('ba', A)")
        self.assertEqual([row[1] for row in self.db.execute("PRAGMA table_info(T)")], ["a", "b", "val"])
        self.assertEqual(self.db.execute("SELECT i, val FROM einsum('ik,k->i', 'Z', '(SELECT 0, 1 UNION SELECT 1, 1)')").fetchall(),
                         [(0, 24.0), (1, 24.0)])

    def test_operands(self):
        self.fill("A", np.array([[0, 1, 2], [5, 7, 1]]), 1)
        self.db.execute("CREATE VIEW rows AS SELECT c0, SUM(v) FROM A GROUP BY c0")
        self.db.execute('CREATE TEMP TABLE "odd ""name""" (i, v)')
        self.db.execute('INSERT INTO "odd ""name""" VALUES (0, 2), (1, 0.5)')
        self.assertEqual(self.einsum("i->i", "rows"), [(0, 3), (1, 13)])
        self.assertEqual(self.einsum("i,i->", "rows", 'odd "name"'), [(12.5,)])
        self.assertEqual(self.einsum("i->", "main.rows"), [(16,)])
        # Extents: those that are given, or the greatest of all indices.
        self.assertEqual(self.einsum("i->i", "rows(3)"), [(0, 3), (1, 13), (2, 0)])
        self.assertEqual(self.einsum("i->i", "(SELECT 0, 1 WHERE 0)(2)"), [(0, 0), (1, 0)])
        self.assertEqual(self.einsum("i,i->i", "rows", "(SELECT 3, 1)"), [(0, 0), (1, 0), (2, 0), (3, 0)])
        self.assertEqual(self.einsum("i->i", "(SELECT 1, NULL)"), [(0, 0.0), (1, None)])
        self.assertEqual(self.einsum(",i->i", "(SELECT 5)", "rows"), [(0, 15), (1, 65)])
        self.assertEqual(self.einsum("->", "(SELECT 0.5)"), [(0.5,)])
        # Tensors of this session, beside tables.
        run(self.db, "CREATE TENSOR T AS EINSUM T[i 2] = i + 1.0")
        self.assertEqual(self.einsum("i,i->i", "T", "rows"), [(0, 3.0), (1, 26.0)])
        self.assertEqual(self.einsum("i,ij->j", "T", "(SELECT 1, 3, 2)"), [(0, 0), (1, 0), (2, 0), (3, 4)])
        run(self.db, "CREATE TENSOR operand_1 AS EINSUM operand_1[i 2] = 3")
        self.assertEqual(self.einsum("i,i->i", "rows", "operand_1"), [(0, 9), (1, 39)])

    def test_errors(self):
        self.fill("A", np.ones((2, 3)), 1)
        run(self.db, "CREATE TENSOR T AS EINSUM T[i 2] = 1")
        for words, *arguments in (
            ("label k of the output occurs in no operand", "ij->k", "A"),
            ("hint: use labels of the operands", "ij->k", "A"),
            ("are for 2 operands, and there are 1", "ij,jk->ik", "A"),
            ("the subscripts 'i' are for 2", "i->i", "A"),
            ("there is no tensor, table or view B", "ij,jk->ik", "A", "B"),
            ("there is no tensor, table or view", "ij->i", ""),
            ("no such table: main.nothing", "i->i", "main.nothing"),
            ("no such column: z", "i->i", "(SELECT z, 1)"),
            ("holds '-1' in row 1: an index is not negative", "i->i", "(SELECT -1, 2)"),
            ("an index is less than that", "i->i", "(SELECT 9223372036854775807, 2)"),
            ("two rows for one cell", ",i->i", "(SELECT 1 UNION SELECT 2)", "T"),
            ("holds '0.5' in row 1: an index is an integer", "i->i", "(SELECT 0.5, 2)"),
            ("holds NULL in row 1: an index is an integer", "i->i", "(SELECT NULL, 2)"),
            ("column v of (SELECT 0 AS i, 'x' AS v) holds 'x' in row 1: a value is a number", "i->i", "(SELECT 0 AS i, 'x' AS v)"),
            ("two rows for one cell: row 2", "i->i", "(SELECT 0, 2 UNION ALL SELECT 0, 3)"),
            ("has no rows", "i->i", "(SELECT 0, 1 WHERE 0)"),
            ("holds 2, and the extent there is 2", "i,i->i", "T", "(SELECT 2, 1)"),
            ("2 extents are given", "i->i", "(SELECT 2, 1)(3, 4)"),
            ("label i has 2 indices in T and 3 in A", "i,ij->i", "T", "A(3, 3)"),
            ("leave out those given", "i->i", "T(2)"),
            ("too large for an array", "i,jk->i", "T", "(SELECT 1000000, 1000000, 1)"),
            ("more elements than 64 bits can count", "ij->i", "(SELECT 9223372036854775806, 9223372036854775806, 1)"),
            ("more than one statement", "i->i", "(SELECT 0, 1) ; DELETE FROM A"),
            ("are texts", "i->i"), ("are texts", 1, 2), ("are texts", "i->i", None),
            ("at most 8 operands", "i,i,i,i,i,i,i,i,i->i", *["T"] * 9),
        ):  # fmt: skip
            with self.subTest(arguments=arguments):
                self.assert_fails(self.db, words, f"SELECT * FROM einsum({', '.join('?' * len(arguments))})", *arguments)
        self.assertEqual(value(self.db, "SELECT COUNT(*) FROM A"), 6)
        self.assert_fails(self.db, "takes subscripts and operands", "CREATE VIRTUAL TABLE Z USING einsum('i')")
        self.assert_fails(self.db, "ellipsis", "CREATE VIRTUAL TABLE Z USING einsum('...i', A)")


class Statements(Extension):
    def setUp(self):
        super().setUp()
        self.db = self.connect()
        run(self.db, "CREATE TENSOR X AS EINSUM X[i 2, j 3] = 3 * i + j")

    def query(self, *arguments):
        return self.db.execute(f"SELECT row FROM eindb_query({', '.join('?' * len(arguments))})", arguments).fetchall()

    def test_queries(self):
        self.assertEqual(self.query("EINSUM Z[i] = SUM(X[i,j])"), [('{"i":0,"val":3.0}',), ('{"i":1,"val":12.0}',)])
        self.assertEqual(self.query("EINSUM Z[] = $1 * SUM(X[i,j]) + $2", 2, 0.5), [(30.5,)])
        self.assertEqual(self.query("SELECT $1 AS a, $2 AS \"b\"\"c\", $3 AS d", None, 'x"\n', 1.0),
                         [('{"a":null,"b\\"c":"x\\"\\u000a","d":1.0}',)])
        self.assertEqual(json.loads(self.query("SELECT $1 AS b, hex($1) AS h", b"\0ab")[0][0]), {"b": "\\x006162", "h": "006162"})
        self.assertEqual(json.loads(self.query("SELECT 'ä\\' AS a, 1 AS b")[0][0]), {"a": "ä\\", "b": 1})
        self.assertEqual(self.db.execute("SELECT c0, c2, c3 FROM eindb_query('EINSUM Z[i,j] = X[i,j]') WHERE c1 = 2").fetchall(),
                         [(0, 2.0, None), (1, 5.0, None)])
        plan = [text for text, in self.query("EXPLAIN EINSUM Z[i] = SUM(X[i,j])")]
        self.assertIn("Z[i] = SUM(X[i,j])", "\n".join(plan))
        self.assertGreater(len(plan), 5)
        gradient = self.query("WITH GRADIENT OF loss[] = SUM(X[i,j]^2) WITH RESPECT TO (X) EINSUM g[i,j] = dX[i,j]")
        self.assertEqual([json.loads(row)["val"] for row, in gradient], [0, 2, 4, 6, 8, 10])
        self.assertEqual(self.db.execute("SELECT n, c0 FROM (SELECT 1 AS n UNION SELECT 2), eindb_query('EINSUM q[] = 2 * $1', n)").fetchall(),
                         [(1, 2), (2, 4)])
        self.assertEqual(self.query("EINSUM Z[i 2] = COMPLEX(i, 1)")[1], ('{"i":1,"val":"1.0+1.0j"}',))

    def test_created_tables(self):
        self.db.execute("CREATE VIRTUAL TABLE temp.Z USING eindb_query('EINSUM Z[i,k] = SUM(X[i,j] * X[k,j])')")
        cursor = self.db.execute("SELECT * FROM Z")
        self.assertEqual([column[0] for column in cursor.description], ["i", "k", "val"])
        self.assertEqual(cursor.fetchall(), [(0, 0, 5.0), (0, 1, 14.0), (1, 0, 14.0), (1, 1, 50.0)])
        run(self.db, "UPDATE TENSOR X[i,j] = 1")
        self.assertEqual(self.db.execute("SELECT DISTINCT val FROM Z").fetchall(), [(3.0,)])
        self.db.execute("CREATE VIRTUAL TABLE Q USING eindb_query('SELECT i, ''it''''s'' AS w FROM X WHERE j = 0')")
        self.assertEqual(self.connect().execute("SELECT * FROM Q").fetchall(), [(0, "it's"), (1, "it's")])
        run(self.db, "DROP TENSOR X")
        self.assert_fails(self.db, "there is no tensor X", "SELECT * FROM Z")
        for words, text in (("of a query", "COPY X TO ''x.npy''"), ("of a query", "DROP TENSOR X"),
                            ("of a query", "EXPLAIN ANALYZE UPDATE TENSOR X[i] = 1"), ("of a query", " /* */ -- SELECT\n DROP TENSOR X"),
                            ("there is no tensor p", "EINSUM Z[i] = p[i]")):  # fmt: skip
            self.assert_fails(self.db, words, f"CREATE VIRTUAL TABLE temp.W USING eindb_query('{text}')")
        self.assert_fails(self.db, "takes one argument", "CREATE VIRTUAL TABLE temp.W USING eindb_query('SELECT 1', 2)")

    def test_statements(self):
        self.assertEqual(run(self.db, "UPDATE TENSOR X[i,j] = X[i,j] * $1", 2), "UPDATE TENSOR")
        self.assertEqual(value(self.db, "SELECT SUM(val) FROM X"), 30.0)
        self.assertEqual(run(self.db, "CREATE TENSOR w AS EINSUM w[] = 4.0; CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)"), "OK")
        self.assertEqual(value(self.db, "SELECT SUM(a) FROM t"), 3)
        run(self.db, "REPEAT 10 { UPDATE TENSOR w[] = w[] / 2 }")
        self.assertEqual(value(self.db, "SELECT val FROM w"), 4 / 1024)
        self.assertEqual(len(self.query("REPEAT 3 { UPDATE TENSOR w[] = w[] + 1 }")), 0)
        self.assertEqual(value(self.db, "SELECT val FROM w"), 3 + 4 / 1024)
        text = self.assert_fails(self.db, "unknown name: there is no tensor Q",
                                 "SELECT eindb_exec('CREATE TENSOR Y AS EINSUM Y[i] = SUM(Q[i,j])')")
        self.assertIn("at line 1, column 38", text)
        self.assertIn("hint:", text)
        self.assert_fails(self.db, "is a text", "SELECT eindb_exec(1)")
        self.assert_fails(self.db, "has a statement as its argument", "SELECT eindb_exec()")
        self.assert_fails(self.db, "first argument", "SELECT * FROM eindb_query")
        self.assert_fails(self.db, "at most 9 parameters", "SELECT * FROM eindb_query(1,2,3,4,5,6,7,8,9,10,11)")
        self.assertRegex(value(self.db, "SELECT eindb_version()"), r"^\d+\.\d+\.\d+$")

    def test_a_file_from_elsewhere_runs_nothing(self):
        self.db.execute("CREATE TABLE t (a)")
        self.db.execute("CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT eindb_exec('DROP TENSOR X'); END")
        self.assert_fails(self.db, "unsafe use of eindb_exec", "INSERT INTO t VALUES (1)")
        self.db.execute("CREATE VIEW v AS SELECT * FROM eindb_query('DROP TENSOR X')")
        self.assert_fails(self.db, "unsafe use", "SELECT * FROM v")
        self.assert_fails(self.db, "for temporary tables",
                          "CREATE VIRTUAL TABLE Z USING einsum('i->', '(SELECT 0, eindb_exec(''DROP TENSOR X''))')")
        self.assertEqual(value(self.db, "SELECT COUNT(*) FROM X"), 6)


if __name__ == "__main__":
    Extension.path = sys.argv.pop(1)
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
