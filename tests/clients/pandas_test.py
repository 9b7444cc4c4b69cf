"""pandas: DataFrames to tables and back, and tensors as DataFrames."""

import datetime
import os
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))

import figures  # noqa: E402
from served import Server  # noqa: E402

try:
    import numpy as np
    import pandas as pd
    import sqlalchemy as sa
except ImportError:
    pd = None

SCRIPT = "CREATE TENSOR X AS EINSUM X[i 3, j 4] = CAST(i * 4 + j AS FLOAT32) / 2;"


class Pandas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if pd is None:
            figures.missing("pandas with SQLAlchemy")
        cls.server = Server(script=SCRIPT)
        cls.engine = sa.create_engine(f"postgresql+psycopg2://ada@127.0.0.1:{cls.server.port}/s")
        cls.frame = pd.DataFrame(
            {
                "n": [1.5, None, -2.0],
                "i": [1, 2, 3],
                "s": ["a", None, "it's \u00e4"],
                "b": [True, False, True],
                "day": [datetime.date(2024, 1, 31), None, datetime.date(2024, 2, 29)],
                "at": pd.to_datetime(["2024-01-01", "2024-02-29 12:30:15", None]),
            }
        )

    @classmethod
    def tearDownClass(cls):
        cls.engine.dispose()
        cls.server.close()

    def tearDown(self):
        for table in sa.inspect(self.engine).get_table_names():
            if table != "X":
                self.engine.execute(f'DROP TABLE "{table}"')

    def same(self, read, written=None):
        """Compares frames; dates come as texts of the database or as dates."""
        written = self.frame if written is None else written
        read = read.copy()
        read["at"] = pd.to_datetime(read["at"])
        read["day"] = pd.to_datetime(read["day"])
        written = written.assign(day=pd.to_datetime(written["day"]))
        pd.testing.assert_frame_equal(read, written, check_dtype=False)

    def test_default_form(self):
        self.assertEqual(self.frame.to_sql("df", self.engine), 3)
        self.same(pd.read_sql_table("df", self.engine, index_col="index").rename_axis(None))
        self.same(pd.read_sql_query("SELECT * FROM df", self.engine, index_col="index").rename_axis(None))
        self.assertEqual([index["column_names"] for index in sa.inspect(self.engine).get_indexes("df")], [["index"]])

    def test_forms_of_insertion(self):
        for number, options in enumerate(({"method": "multi"}, {"chunksize": 2}, {"method": "multi", "chunksize": 1})):
            self.frame.to_sql(f"df{number}", self.engine, index=False, **options)
            self.same(pd.read_sql_table(f"df{number}", self.engine))

    def test_if_exists(self):
        self.frame.to_sql("df", self.engine, index=False)
        with self.assertRaises(ValueError):
            self.frame.to_sql("df", self.engine, index=False)
        self.frame.to_sql("df", self.engine, index=False, if_exists="append")
        self.assertEqual(len(pd.read_sql_table("df", self.engine)), 6)
        self.frame[["i", "s"]].to_sql("df", self.engine, index=False, if_exists="replace")
        self.assertEqual(list(pd.read_sql_table("df", self.engine).columns), ["i", "s"])

    def test_queries(self):
        self.frame.to_sql("df", self.engine, index=False)
        read = pd.read_sql_query("SELECT i, s FROM df WHERE i >= %(least)s ORDER BY i", self.engine, params={"least": 2})
        self.assertEqual(read["i"].tolist(), [2, 3])
        self.assertEqual(read["s"].tolist(), [None, "it's \u00e4"])
        chunks = pd.read_sql_query("SELECT * FROM df ORDER BY i", self.engine, chunksize=2)
        self.assertEqual([len(chunk) for chunk in chunks], [2, 1])
        means = pd.read_sql_query("SELECT b, AVG(n) AS mean FROM df GROUP BY b ORDER BY b", self.engine)
        self.assertEqual(means["b"].tolist(), [False, True])
        self.assertEqual(means["mean"].astype(float).fillna(9).tolist(), [9, -0.25])

    def test_types(self):
        frame = pd.DataFrame(
            {
                "small": np.array([1, 2], dtype="int16"),
                "real": np.array([0.5, np.inf], dtype="float32"),
                "kind": pd.Categorical(["x", "y"]),
                "raw": [b"a\x00b", None],
                "text": ["short", "12345"],
            }
        )
        frame.to_sql("typed", self.engine, index=False, dtype={"raw": sa.LargeBinary, "text": sa.String(5)})
        read = pd.read_sql_table("typed", self.engine)
        self.assertEqual(read["small"].tolist(), [1, 2])
        self.assertEqual(read["real"].tolist(), [0.5, np.inf])
        self.assertEqual(read["kind"].tolist(), ["x", "y"])
        self.assertEqual(read["raw"].tolist(), [b"a\x00b", None])
        with self.assertRaises(sa.exc.DataError):
            frame.assign(text="too long").to_sql("typed", self.engine, index=False, if_exists="append")
        self.assertEqual(len(pd.read_sql_table("typed", self.engine)), 2)

    def test_tensors(self):
        cells = pd.read_sql_table("X", self.engine)
        self.assertEqual(list(cells.columns), ["i", "j", "val"])
        matrix = cells.pivot(index="i", columns="j", values="val").to_numpy()
        np.testing.assert_array_equal(matrix, np.arange(12).reshape(3, 4) / 2)
        product = pd.read_sql_query("EINSUM Z[i, k] = SUM(X[i, j] * X[k, j])", self.engine)
        np.testing.assert_array_equal(product["val"].to_numpy().reshape(3, 3), matrix @ matrix.T)

    def test_a_frame_becomes_a_tensor(self):
        frame = pd.DataFrame({"i": [0, 0, 1], "j": [0, 1, 1], "val": [1.0, 2.0, 3.0]})
        frame.to_sql("cells", self.engine, index=False)
        with self.engine.begin() as connection:
            connection.execute("CREATE TENSOR T (i 2, j 2) AS SELECT i, j, val FROM cells")
        self.addCleanup(self.engine.execute, "DROP TENSOR T")
        read = pd.read_sql_query("SELECT * FROM T ORDER BY i, j", self.engine)
        self.assertEqual(read["val"].tolist(), [1.0, 2.0, 0.0, 3.0])


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    if pd is not None:
        broken = len(result.failures) + len(result.errors)
        figures.note("pandas", pd.__version__, passed=result.testsRun - broken, failed=broken)
    sys.exit(not result.wasSuccessful())
