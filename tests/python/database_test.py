#!/usr/bin/python3
"""Databases, statements, cursors of DB-API 2.0, and tensors by name."""
import datetime
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import eindb
import numpy as np

try:
    import pandas
except ImportError:
    pandas = None
try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None
try:
    import torch
except ImportError:
    torch = None


class Database(unittest.TestCase):
    def setUp(self):
        self.db = eindb.connect()
        self.addCleanup(self.db.close)


class Statements(Database):
    def test_rows_and_their_types(self):
        cursor = self.db.execute("SELECT 1 AS a, 2.5 AS b, 'x' AS c, NULL AS d")
        self.assertEqual([column[0] for column in cursor.description], ["a", "b", "c", "d"])
        self.assertEqual(cursor.fetchall(), [(1, 2.5, "x", None)])
        self.assertEqual(self.db.einsum("Z[i 2] = i + 0.0 + COMPLEX(0.0, 1.0)").tolist(), [1j, 1 + 1j])

    def test_parameters(self):
        for text in ("SELECT $1, $2", "SELECT ?, ?"):
            for values in ((1, "?"), (2.5, None), (np.int64(3), np.float32(0.5)), (True, "a'b; --")):
                self.assertEqual(self.db.execute(text, values).fetchone(), values)
        self.assertEqual(self.db.execute("SELECT '?', \"x\" -- ?\n FROM (SELECT ? AS x) /* ? */", [7]).fetchone(), ("?", 7))
        self.assertEqual(self.db.execute("EINSUM Z[i 3] = $1 * i", [2]).numpy().tolist(), [0, 2, 4])
        for values in ((), (1,), (1, 2, 3)):
            with self.assertRaises((ValueError, eindb.Error)):
                self.db.execute("SELECT $1, $2", values)
        for error, text, values in ((ValueError, "SELECT ?, $1", (1, 2)), (TypeError, "SELECT ?", ([1],)),
                                    (TypeError, "SELECT ?", "a"), (TypeError, "SELECT ?", (object(),)),
                                    (OverflowError, "SELECT ?", (2**70,))):  # fmt: skip
            with self.assertRaises(error):
                self.db.execute(text, values)

    def test_errors_have_classes_and_places(self):
        for error, kind, text in ((eindb.ProgrammingError, "syntax error", "EINSUM Z["),
                                  (eindb.ProgrammingError, "unknown name", "EINSUM Z[i] = Nothing[i]"),
                                  (eindb.ProgrammingError, "SQL error", "SELECT * FROM nothing"),
                                  (eindb.DataError, "shape error", "EINSUM Z[i 3000000000, j 4000000000, k 2] = 1"),
                                  (eindb.OperationalError, "invalid value", "ROLLBACK")):  # fmt: skip
            with self.assertRaises(eindb.Error) as caught:
                self.db.execute(text)
            self.assertEqual(caught.exception.kind, kind)
            if kind != "invalid value":
                self.assertIsInstance(caught.exception, error)
        with self.assertRaises(eindb.ProgrammingError) as caught:
            self.db.execute("EINSUM Z[i] = Nothing[i]")
        self.assertEqual((caught.exception.line, caught.exception.column), (1, 15))

    def test_scripts(self):
        cursor = self.db.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); SELECT SUM(a) FROM t")
        self.assertEqual(cursor.fetchall(), [(3,)])
        with self.assertRaises(eindb.ProgrammingError):
            self.db.executescript("INSERT INTO t VALUES (3); NONSENSE")
        self.assertEqual(self.db.execute("SELECT COUNT(*) FROM t").fetchone(), (3,))

    def test_rows_are_those_of_the_statement_whatever_is_written_meanwhile(self):
        writes = [
            lambda: self.db.execute("UPDATE TENSOR X[i,j] = 1"),
            lambda: self.db.execute("INSERT INTO TENSOR X VALUES (399, 499, 5)"),
            lambda: self.db.store("X", np.ones((400, 500))),
            lambda: self.db.__delitem__("X"),
            lambda: self.db.executescript("UPDATE TENSOR X[i,j] = 1; SELECT 1"),
            lambda: self.db.cursor().executemany("UPDATE TENSOR X[i,j] = $1", [(1,), (2,)]),
        ]
        for write in writes:
            self.db["X"] = np.zeros((400, 500))
            cursor = self.db.execute("SELECT val FROM X")
            cursor.fetchone()
            write()
            rows = cursor.fetchall()
            self.assertEqual((len(rows), sum(row[0] for row in rows)), (199_999, 0))
        self.db.execute("CREATE TABLE n (a)")
        self.db.execute("BEGIN")
        self.db["X"] = np.zeros((400, 500))
        cursor = self.db.execute("SELECT val FROM X")
        cursor.fetchone()
        self.db.rollback()
        self.assertEqual(sum(row[0] for row in cursor), 0)

    def test_arrays_of_a_select_are_as_they_were(self):
        W = np.zeros(3000)
        cursor = self.db.execute("SELECT val FROM W")
        W[:] = 1
        self.assertEqual(sum(row[0] for row in cursor), 0)

    def test_changes_of_many_rows_are_one(self):
        self.db.execute("CREATE TABLE t (a INTEGER, b TEXT NOT NULL)")
        with self.assertRaises(eindb.Error):
            self.db.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, None)])
        self.assertEqual(self.db.execute("SELECT COUNT(*) FROM t").fetchone(), (0,))
        self.assertEqual(self.db.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b")]).rowcount, 2)

    def test_parameters_of_other_types(self):
        given = [datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3), np.datetime64("2024-02-29"), np.complex64(1 + 2j)]
        self.assertEqual(self.db.execute("SELECT ?, ?, ?", given[:3]).fetchone(), ("2024-02-29", "2024-02-29 01:02:03", "2024-02-29"))
        np.testing.assert_equal(self.db.execute("EINSUM Z[i 2] = $1", given[3:]).numpy(), [1 + 2j, 1 + 2j])

    def test_blobs_are_bytes(self):
        self.db.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)")
        given = [b"\x00\xffa\x00", b"", bytearray(b"ab"), memoryview(b"abcdef")[::2], eindb.Binary(b"plain")]
        self.db.executemany("INSERT INTO t (b) VALUES (?)", [(value,) for value in given])
        expected = [b"\x00\xffa\x00", b"", b"ab", b"ace", b"plain"]
        self.assertEqual([row[0] for row in self.db.execute("SELECT b FROM t ORDER BY n")], expected)
        self.assertEqual({row[0] for row in self.db.execute("SELECT typeof(b) FROM t")}, {"blob"})
        self.assertEqual(self.db.execute("SELECT b FROM t ORDER BY n").numpy()["b"].tolist(), expected)
        self.assertEqual(self.db.execute("SELECT x'00', 'text', CAST('text' AS BLOB)").fetchone(), (b"\0", "text", b"text"))
        with self.assertRaises(eindb.Error):
            self.db.execute("EINSUM Z[i 2] = ?", [b"x"])

    def test_wrong_calls_are_errors_of_eindb(self):
        for statement, parameters in [("SELECT ?, ?", [1]), ("SELECT ?", [2**63]), ("SELECT ?", [object()]), ("SELECT ?", ["\ud800"])]:
            with self.assertRaises(eindb.ProgrammingError):
                self.db.execute(statement, parameters)
        frame = [1.0]
        with self.assertRaisesRegex(eindb.ProgrammingError, "frame is a variable, but a list and no array"):
            self.db.execute("EINSUM Z[i] = frame[i]")
        self.assertEqual(len(frame), 1)
        with self.assertRaisesRegex(eindb.ProgrammingError, "several columns are called a"):
            self.db.execute("SELECT 1 AS a, 2 AS a").numpy()

    def test_names_that_are_no_plain_names(self):
        self.db["fc.weight"] = np.arange(6.0).reshape(2, 3)
        self.assertEqual(list(self.db), ["fc.weight"])
        np.testing.assert_equal(self.db["fc.weight"].numpy(), np.arange(6.0).reshape(2, 3))
        np.testing.assert_equal(self.db["fc.weight"][0, 1:], [1, 2])
        i, j = eindb.labels("i j")
        np.testing.assert_equal(self.db["fc.weight"][i, j].sum(j).compute(), [3, 12])
        del self.db["fc.weight"]
        self.assertEqual(list(self.db), [])

    def test_changes_in_place_keep_labels(self):
        self.db.store("X", np.arange(3.0), labels=["city"])
        self.db["X"] += 1
        self.db["X"] *= 2
        np.testing.assert_equal(self.db["X"].numpy(), [2, 4, 6])
        self.assertEqual(self.db["X"].labels, ("city",))
        with self.assertRaises(TypeError):
            np.add(np.ones(3), 1, out=self.db["X"])

    def test_masked_values_are_nan(self):
        self.db["m"] = np.ma.array([1.0, -999.0], mask=[0, 1])
        np.testing.assert_equal(self.db["m"].numpy(), [1, np.nan])
        with self.assertRaisesRegex(ValueError, "masked"):
            self.db["m"] = np.ma.array([1, 2], mask=[0, 1])

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_names_of_dimensions_that_are_no_labels(self):
        self.db["x"] = pandas.DataFrame(np.ones((2, 2)), index=pandas.Index(["a", "b"], name="my city"), columns=pandas.Index(["c", "d"], name="X y"))
        self.assertEqual(self.db["x"].labels, ("my_city", "X_y"))

    def test_explain(self):
        self.db["X"] = np.ones((4, 4))
        plan = self.db.explain("EINSUM Z[i] = SUM(X[i,j])")
        self.assertIn("scan X", self.db.explain("Z[i] = SUM(X[i,j])"))
        self.assertIn("scan X", self.db.explain("'ij->i' (X)"))
        self.assertIn("scan X", plan)
        self.assertTrue(plan._repr_html_().startswith("<pre>"))
        self.assertTrue(self.db.explain("EINSUM Z[i] = SUM(X[i,j])", format="json").startswith("{"))
        page = self.db.explain("EINSUM Z[i] = SUM(X[i,j])", format="html")._repr_html_()
        self.assertTrue(page.startswith('<iframe title="plan" sandbox="allow-scripts"'), page[:100])
        self.assertNotIn("<script", page)
        self.assertIn("EinGraph", self.db.explain("EINSUM Z[i] = SUM(A[i,j])", analyze=True, A=np.ones((2, 2))))
        with self.assertRaises(ValueError):
            self.db.explain("EINSUM Z[i] = SUM(X[i,j])", format="xml")


class Arrays(Database):
    def test_by_name(self):
        A, W = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
        text = "Z[i,k] = SUM(P[i,j] * Q[j,k])"
        for p, q in ((A, W), (A.astype("f4"), np.asfortranarray(W)), (A[::-1], W.astype(">f8")), (A.astype("i4"), W),
                     (A.tolist(), W.astype("f2"))):  # fmt: skip
            np.testing.assert_array_equal(self.db.einsum(text, P=p, Q=q), np.asarray(p) @ np.asarray(q))
        np.testing.assert_array_equal(self.db.execute("EINSUM " + text, P=A, Q=W).numpy(), A @ W)
        rows = self.db.execute("SELECT i, SUM(val) FROM P GROUP BY i", P=A)
        del A
        self.assertEqual(rows.fetchall(), [(0, 3.0), (1, 12.0)])
        for error, array in ((TypeError, np.array(["a"])), (TypeError, np.ones(2, np.longdouble)),
                             (ValueError, np.array([2**63], "u8"))):  # fmt: skip
            with self.assertRaises(error):
                self.db.einsum("Z[i] = P[i]", P=array)

    def test_variables_of_the_caller(self):
        Local = np.arange(3.0)
        self.assertEqual(self.db.execute("EINSUM Z[] = SUM(Local[i])").fetchone(), (3.0,))
        self.assertEqual(self.db.execute("SELECT SUM(val) FROM Local").fetchone(), (3.0,))
        self.assertEqual(self.db.einsum("Z[] = SUM(Local[i] * GLOBAL_ARRAY[i])"), 5.0)
        self.assertEqual(self.db.cursor().execute("EINSUM Z[] = SUM(Local[i])").fetchone(), (3.0,))
        self.db["Local"] = np.zeros(3)
        self.assertEqual(self.db.execute("EINSUM Z[] = SUM(Local[i])").fetchone(), (0.0,))
        other = eindb.connect(scope=False)
        with self.assertRaises(eindb.ProgrammingError):
            other.execute("EINSUM Z[] = SUM(Local[i])")
        no_array = "a text"  # noqa: F841, looked up and not taken
        with self.assertRaises(eindb.ProgrammingError):
            self.db.execute("EINSUM Z[] = SUM(no_array[i])")

    def test_stored(self):
        for dtype in ("f2", "i1", "u1", "i2", "u2", "i4", "u4", "?", "f4", "c8", "c16", "i8", "f8", ">f8"):
            array = np.array([[1, 0, 1], [0, 1, 1]], dtype)
            self.db["X"] = array
            np.testing.assert_array_equal(self.db["X"], array)
            self.assertEqual(self.db["X"].dtype, np.dtype(dtype).newbyteorder("="))
        self.db["X"] = np.arange(6.0).reshape(2, 3)
        stored = self.db["X"]
        self.assertEqual((stored.shape, stored.ndim, stored.labels, len(stored)), ((2, 3), 2, ("i", "j"), 2))
        np.testing.assert_array_equal(stored[1, ::-1], [5, 4, 3])
        np.testing.assert_array_equal(stored + 1, np.arange(6.0).reshape(2, 3) + 1)
        stored.numpy()[0, 0] = 7
        self.assertEqual(stored[0, 0], 0)
        self.db.store("Y", [1, 2], labels=["row"], type="INT8")
        self.assertEqual((self.db["Y"].labels, self.db["Y"].stored_type), (("row",), "INT8"))
        self.db["number"] = 3
        self.assertEqual(self.db["number"].numpy(), 3)
        self.db["empty"] = np.zeros((0, 3))
        self.assertEqual(self.db["empty"].numpy().shape, (0, 3))
        self.assertEqual(set(self.db), {"X", "Y", "number", "empty"})
        del self.db["Y"]
        self.assertNotIn("Y", self.db)
        for call in (lambda: self.db["Y"], lambda: self.db.__delitem__("Y")):
            self.assertRaises(KeyError, call)
        for name in ("", "a\0b", 3):
            self.assertRaises(ValueError, self.db.store, name, [1])
        for name in ("a b", "1x", 'x";--'):
            self.db.store(name, [1])
            self.assertEqual(self.db[name][0], 1)
            del self.db[name]
        self.assertRaises(ValueError, self.db.store, "Z", [1], ["i", "j"])

    def test_parts_of_what_is_stored(self):
        for shape in ((7, 5, 6), (4,), (), (0, 3)):
            whole = np.arange(np.prod(shape), dtype="i2").reshape(shape)
            self.db["X"] = whole
            stored, least = self.db["X"], min(shape, default=0)
            choice = np.random.default_rng(3)
            for _ in range(60):
                ends = [None, *range(-8, 9)]
                indices = [
                    int(choice.integers(-least, least)) if least and choice.random() < 0.4 else
                    slice(choice.choice(ends), choice.choice(ends), choice.choice([None, 1, 2, 9, -1, -3]))
                    for _ in range(choice.integers(len(shape) + 1))
                ]  # fmt: skip
                if choice.random() < 0.3:
                    indices.insert(choice.integers(len(indices) + 1), Ellipsis)
                with self.subTest(shape=shape, indices=indices):
                    got, expected = stored[tuple(indices)], whole[tuple(indices)]
                    np.testing.assert_array_equal(got, expected)
                    self.assertEqual((got.shape, got.dtype), (expected.shape, expected.dtype))
        self.db["X"] = whole = np.arange(12.0).reshape(3, 4)
        for index in (np.int64(1), [0, 2], True, whole > 5, (None, 1), (slice(None), [1]), (..., None)):
            np.testing.assert_array_equal(self.db["X"][index], whole[index])
        for index in (3, (0, 4), (0, 0, 0), -4, (..., ...), 1.5):
            self.assertRaises(IndexError, lambda index=index: self.db["X"][index])
        self.db["X"][1][0] = 7
        self.assertEqual(self.db["X"][1, 0], 4)

    def test_gradients(self):
        W, X = np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]])
        loss = "L[] = SUM(SUM[i](X[b,i] * W[i])^2)"
        np.testing.assert_allclose(self.db.grad(loss, "W", W=W, X=X), 2 * X.T @ (X @ W))
        both = self.db.grad(loss, ["W", "X"], W=W, X=X)
        np.testing.assert_allclose(both["X"], 2 * np.outer(X @ W, W))

    def test_results_are_apart_from_what_is_stored(self):
        self.db["X"] = np.zeros((3, 3))
        first = self.db.einsum("Z[i,j] = X[i,j]")
        first += 5
        np.testing.assert_array_equal(self.db.einsum("Z[i,j] = X[i,j]"), np.zeros((3, 3)))

    @unittest.skipIf(sparse is None, "there is no SciPy")
    def test_sparse_matrices(self):
        cells = sparse.random(40, 30, 0.1, random_state=2, data_rvs=lambda n: np.arange(1, n + 1))
        for layout in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
            for dtype in ("f8", "f4", "i8", "i4", "b1", "c16", ">f8"):
                matrix = cells.astype(dtype).asformat(layout)
                self.db["S"] = matrix
                stored = self.db["S"]
                self.assertEqual(stored.shape, (40, 30))
                np.testing.assert_array_equal(stored.scipy().toarray(), matrix.toarray())
        self.db.store("S", sparse.eye(5), labels=("j", "i"), type="FLOAT32")
        self.assertEqual((self.db["S"].labels, self.db["S"].stored_type), (("j", "i"), "FLOAT32"))
        with self.assertRaises(eindb.Error):
            self.db.store("S", sparse.eye(4), type="NOPE")
        self.assertFalse(self.db.in_transaction)
        self.db.execute("BEGIN")
        self.db["S"] = sparse.eye(3)
        self.db.rollback()
        self.assertEqual(self.db["S"].shape, (5, 5))
        self.db["cube"] = np.ones((2, 2, 2))
        with self.assertRaisesRegex(eindb.Error, "holds a matrix, not 3 dimensions"):
            self.db["cube"].scipy()

    @unittest.skipIf(pandas is None, "there is no pandas")
    def test_data_frames(self):
        frame = self.db.execute("EINSUM Z[i 2, j 2] = 1.0 * i + j").df()
        self.assertEqual((list(frame.columns), frame["val"].tolist()), (["i", "j", "val"], [0.0, 1.0, 1.0, 2.0]))

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_tensors_of_pytorch(self):
        self.assertEqual(self.db.execute("EINSUM Z[i 2] = 1.0 * i").torch().tolist(), [0.0, 1.0])
        self.assertEqual(self.db.einsum("Z[] = SUM(P[i])", P=torch.ones(3)), 3)


class Cursors(Database):
    def test_the_names_of_dbapi(self):
        self.assertEqual((eindb.apilevel, eindb.threadsafety, eindb.paramstyle), ("2.0", 2, "qmark"))
        for name in ("Warning", "Error", "InterfaceError", "DatabaseError", "DataError", "OperationalError",
                     "IntegrityError", "InternalError", "ProgrammingError", "NotSupportedError"):  # fmt: skip
            self.assertIs(getattr(self.db, name), getattr(eindb, name))
        self.assertTrue(issubclass(eindb.ProgrammingError, eindb.DatabaseError))

    def test_fetching(self):
        cursor = self.db.cursor()
        self.assertIsNone(cursor.description)
        self.assertEqual(cursor.rowcount, -1)
        cursor.execute("EINSUM Z[i 2500] = i")
        self.assertEqual(cursor.fetchone(), (0, 0))
        self.assertEqual(cursor.fetchmany(2), [(1, 1), (2, 2)])
        self.assertEqual(cursor.fetchmany(), [(3, 3)])
        self.assertEqual(next(cursor), (4, 4))
        self.assertEqual(len(cursor.fetchall()), 2495)
        self.assertEqual((cursor.fetchone(), cursor.fetchall()), (None, []))
        self.assertEqual(sum(value for _, value in cursor.execute("EINSUM Z[i 2500] = i")), 2499 * 1250)

    def test_counts(self):
        cursor = self.db.cursor()
        cursor.execute("CREATE TABLE t (a)")
        cursor.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(5)])
        self.assertEqual(cursor.rowcount, 5)
        self.assertEqual(cursor.execute("DELETE FROM t WHERE a > 2").rowcount, 2)
        self.assertEqual(cursor.execute("SELECT * FROM t").rowcount, -1)

    def test_html(self):
        html = self.db.execute("SELECT '<b>' AS x")._repr_html_()
        self.assertIn("&lt;b&gt;", html)
        cursor = self.db.execute("EINSUM Z[i 50] = i")
        self.assertIn("… 30 more rows", cursor._repr_html_())
        self.assertEqual(cursor.fetchone(), (0, 0))
        self.assertIn("… 29 more rows", cursor._repr_html_())
        self.assertEqual(len(cursor.fetchall()), 49)

    def test_what_is_closed_refuses(self):
        cursor = self.db.execute("SELECT 1")
        other = self.db.cursor()
        other.close()
        self.assertRaises(eindb.InterfaceError, other.execute, "SELECT 1")
        self.db.close()
        self.db.close()
        for call in (cursor.fetchone, cursor.fetchall, lambda: cursor.execute("SELECT 1"), self.db.cursor, self.db.commit,
                     self.db.tensors, lambda: self.db.execute("SELECT 1"), lambda: self.db["X"]):  # fmt: skip
            self.assertRaises(eindb.InterfaceError, call)
        with self.assertRaises(eindb.InterfaceError):
            eindb.connect().cursor().fetchone()


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "my.db")

    def test_transactions(self):
        with eindb.connect(self.path) as db:
            db.execute("CREATE TABLE t (a)")
            db.execute("BEGIN")
            self.assertTrue(db.in_transaction)
            db.execute("INSERT INTO t VALUES (1)")
            db.rollback()
            db.execute("BEGIN")
            db.execute("INSERT INTO t VALUES (2)")
        with self.assertRaises(ZeroDivisionError), eindb.connect(self.path) as db:
            db.execute("BEGIN")
            db.execute("INSERT INTO t VALUES (3)")
            1 / 0
        with eindb.connect(self.path) as db:
            self.assertEqual(db.execute("SELECT a FROM t").fetchall(), [(2,)])
            db.commit()
            db.rollback()

    def test_read_only(self):
        with eindb.connect(self.path) as db:
            db["X"] = np.ones(3)
        with eindb.connect(self.path, read_only=True) as db:
            np.testing.assert_array_equal(db["X"], np.ones(3))
            self.assertRaises(eindb.OperationalError, db.store, "Y", [1])
        with self.assertRaises(eindb.OperationalError):
            eindb.connect(os.path.join(self.path, "nowhere.db"))


class Threads(Database):
    def test_a_connection_serves_several_one_at_a_time(self):
        self.db["X"] = np.ones((20, 20))
        failures = []

        def statements():
            try:
                for n in range(50):
                    if self.db.einsum("Z[] = $1 * SUM(X[i,j])", (n,)) != 400 * n:
                        failures.append(n)
                    if self.db.execute("SELECT COUNT(*) FROM X").fetchone() != (400,):
                        failures.append(n)
            except BaseException as error:  # noqa: BLE001, told by the main thread
                failures.append(error)

        threads = [threading.Thread(target=statements) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_ctrl_c_ends_a_statement(self):
        text = (
            "import eindb, sys\n"
            "db = eindb.connect()\n"
            "try:\n"
            "    print('begun', flush=True)\n"
            "    while True: db.execute('EINSUM Z[] = SUM[i 20000, j 20000, k 200](SIN(1.0 * i + j + k))')\n"
            "except KeyboardInterrupt:\n"
            "    print(db.execute('SELECT 1').fetchone())\n"
        )
        with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True) as program:
            self.assertEqual(program.stdout.readline(), "begun\n")
            program.send_signal(signal.SIGINT)
            self.assertEqual(program.stdout.read(), "(1,)\n")
        self.assertEqual(program.returncode, 0)


GLOBAL_ARRAY = np.array([0.0, 1.0, 2.0])

if __name__ == "__main__":
    unittest.main()
