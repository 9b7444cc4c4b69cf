#!/usr/bin/python3
"""arrow_peers_test.py: tables that pass between eindb and DuckDB by Arrow's C interfaces, within one process, and between
eindb and Arrow for JavaScript by files.

DuckDB is the library of its node bindings. Both are installed by npm into folders of the tests' own; a test is skipped
where npm cannot do that.
"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import eindb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrow_structs import Array, Schema, Stream, new_capsule, take  # noqa: E402

ARROW = "apache-arrow@17.0.0"
PACKAGE = "@duckdb/node-bindings-linux-x64@1.5.6-r.1"


def install(package, folder):
    """Installs a package of npm into a folder; SkipTest where that cannot be."""
    if not shutil.which("npm"):
        raise unittest.SkipTest("npm is not installed")
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--silent", "--ignore-scripts", "--fetch-retries=1", package]
    try:
        installed = subprocess.run(command, cwd=folder, capture_output=True, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:
        installed = False
    if not installed:
        raise unittest.SkipTest(f"npm cannot install {package}: the registry does not answer")


class DuckDb:
    """A database of DuckDB in memory, by the C interface of its library."""

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.duckdb_query_arrow_error.restype = ctypes.c_char_p
        self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.library.duckdb_open(None, ctypes.byref(self.database)) == 0
        assert self.library.duckdb_connect(self.database, ctypes.byref(self.connection)) == 0
        self.kept = []

    def scan(self, name, source):
        """A table of what an object hands over. The view that the C interface makes has all columns in their order: DuckDB
        takes others where a query names some of them."""
        stream = take(source.__arrow_c_stream__(), b"arrow_array_stream", Stream)
        self.kept.append(stream)
        assert self.library.duckdb_arrow_scan(self.connection, b"handed_over_" + name.encode(), ctypes.byref(stream)) == 0
        self.query(f"CREATE TABLE {name} AS SELECT * FROM handed_over_{name}")

    def query(self, sql):
        result = ctypes.c_void_p()
        status = self.library.duckdb_query_arrow(self.connection, sql.encode(), ctypes.byref(result))
        message = self.library.duckdb_query_arrow_error(result)
        assert status == 0, message
        return Relation(self.library, result)

    def close(self):
        self.library.duckdb_disconnect(ctypes.byref(self.connection))
        self.library.duckdb_close(ctypes.byref(self.database))


class Relation:
    """A result of DuckDB that hands over its first batch."""

    def __init__(self, library, result):
        self.library, self.result = library, result

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = Schema(), Array()
        for function, held in (("schema", schema), ("array", array)):
            pointer = ctypes.c_void_p(ctypes.addressof(held))
            assert getattr(self.library, f"duckdb_query_arrow_{function}")(self.result, ctypes.byref(pointer)) == 0
        self.held = schema, array
        return (new_capsule(ctypes.addressof(schema), b"arrow_schema", None),
                new_capsule(ctypes.addressof(array), b"arrow_array", None))


class DuckDbTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        install(PACKAGE, folder.name)
        cls.library = os.path.join(folder.name, "node_modules", *PACKAGE.rpartition("@")[0].split("/"), "libduckdb.so")

    def setUp(self):
        self.db = eindb.connect()
        self.duck = DuckDb(self.library)
        self.addCleanup(self.duck.close)

    def back(self, sql, name="Back", **options):
        """What DuckDB computes, stored as a tensor."""
        self.db.store(name, self.duck.query(sql), **options)
        return self.db[name].numpy()

    def test_tensors_and_back(self):
        values = np.random.default_rng(3).standard_normal((40, 30))
        self.db.execute("SET tile_bytes = 1024")
        self.db["X"] = values
        self.duck.scan("x", self.db["X"])
        np.testing.assert_allclose(self.back("SELECT i, SUM(val) AS val FROM x GROUP BY i"), values.sum(1), rtol=1e-12)
        for code in ("f4", "i8"):
            self.db["Y"] = np.arange(12).reshape(3, 4).astype(code)
            self.duck.scan(f"y_{code}", self.db["Y"])
            np.testing.assert_array_equal(self.back(f"SELECT j, i, 2 * val AS val FROM y_{code}"), 2 * np.arange(12).reshape(3, 4).T)

    def test_names_dates_and_texts(self):
        self.db.execute("CREATE TENSOR R (city IN ('Oslo', 'Bergen'), day FROM '2024-01-30' TO '2024-02-01')")
        self.db.execute("INSERT INTO TENSOR R VALUES ('Bergen', '2024-02-01', 7), ('Oslo', '2024-01-30', 2)")
        self.duck.scan("r", self.db["R"])
        found = self.back("SELECT city, day, val FROM r WHERE val > 0")
        self.assertEqual(self.db["Back"].names, (["Bergen", "Oslo"], ["2024-01-30", "2024-02-01"]))
        np.testing.assert_array_equal(found, [[0, 7], [2, 0]])
        long = "a text that is longer than twelve bytes"
        self.back("SELECT * FROM (VALUES (0, 2.25), (1, -0.5)) AS t(i, val)", name="Decimals")
        self.assertEqual(self.db["Decimals"].numpy().tolist(), [2.25, -0.5])
        self.back(f"SELECT * FROM (VALUES ('{long}', 1.5), ('short', 2.5)) AS t(name, val)", name="T")
        self.assertEqual(self.db["T"].names, ([long, "short"],))

    def test_rows_with_missing_values(self):
        self.db.execute("CREATE TABLE t (a INTEGER, b TEXT, c REAL, d BLOB)")
        self.db.execute("INSERT INTO t VALUES (1, 'one', 1.5, x'00FF'), (NULL, NULL, NULL, NULL), (-3, 'ä', 2, x'')")
        self.duck.scan("t", self.db.execute("SELECT * FROM t"))
        self.db.execute("CREATE TABLE u (a INTEGER, b TEXT, c REAL, d INTEGER)")
        self.assertEqual(self.db.load("u", self.duck.query("SELECT a, b, c, octet_length(d) AS d FROM t")), 3)
        self.assertEqual(self.db.execute("SELECT * FROM u").fetchall(),
                         [(1, "one", 1.5, 2), (None,) * 4, (-3, "ä", 2.0, 0)])

    def test_types_of_duckdb(self):
        self.db.execute("CREATE TABLE t (a, b, c, d, e, f, g)")
        self.db.load("t", self.duck.query(
            "SELECT 1::TINYINT AS a, 2::UBIGINT AS b, true AS c, 1.5::FLOAT AS d, DATE '2024-02-29' AS e, "
            "TIMESTAMP '2024-02-29 12:00:00.5' AS f, SUM(5) AS g"))
        self.assertEqual(self.db.execute("SELECT * FROM t").fetchall(),
                         [(1, 2, 1, 1.5, "2024-02-29", "2024-02-29 12:00:00.5", 5)])


class JavaScriptTest(unittest.TestCase):
    """Files and streams of Arrow's IPC format, which apache-arrow of npm writes and reads."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        install(ARROW, folder.name)
        if not shutil.which("node"):
            raise unittest.SkipTest("Node is not installed")

    def node(self, program):
        path = os.path.join(self.folder, "program.mjs")
        with open(path, "w", encoding="utf-8") as file:
            file.write("import * as arrow from 'apache-arrow'; import * as fs from 'fs';\n" + program)
        done = subprocess.run(["node", path], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, file):
        """(types by column, rows) as JavaScript reads them; integers of 64 bits as numbers."""
        out = self.node(
            f"const t = arrow.tableFromIPC(fs.readFileSync('{file}'));"
            "const plain = (key, v) => typeof v === 'bigint' ? Number(v) : v instanceof Uint8Array ? Array.from(v) : v;"
            "console.log(JSON.stringify([Object.fromEntries(t.schema.fields.map(f => [f.name, String(f.type)])),"
            " t.toArray().map(r => t.schema.fields.map(f => { const v = r[f.name];"
            " return v && v.toArray && !(v instanceof Uint8Array) ? Array.from(v.toArray()) : v; }))], plain))")
        types, rows = json.loads(out)
        return types, [tuple(row) for row in rows]

    def test_what_it_reads(self):
        db = eindb.connect()
        db.execute("SET tile_bytes = 256")
        values = np.random.default_rng(3).standard_normal((13, 11))
        db["X"] = values
        db.execute("CREATE TABLE t (a INTEGER, b TEXT, c REAL, d BLOB)")
        db.execute("INSERT INTO t VALUES (1, 'one', 1.5, x'00FF'), (NULL, NULL, NULL, NULL), (-3, 'ä', 2, x'')")
        for ending in ("arrow", "arrows"):
            db.execute(f"COPY X TO '{self.folder}/x.{ending}'")
            types, rows = self.rows(f"x.{ending}")
            self.assertEqual(types, {"i": "Int64", "j": "Int64", "val": "Float64"})
            self.assertEqual(rows, [(*index, value) for index, value in np.ndenumerate(values)])
            db.execute(f"COPY t TO '{self.folder}/t.{ending}'")
            types, rows = self.rows(f"t.{ending}")
            self.assertEqual(types, {"a": "Int64", "b": "LargeUtf8", "c": "Float64", "d": "LargeBinary"})
            self.assertEqual(rows, [(1, "one", 1.5, [0, 255]), (None,) * 4, (-3, "ä", 2, [])])
            db.execute(f"COPY (EINSUM Z[i] = SUM[j](CAST(X[i,j] AS COMPLEX128))) TO '{self.folder}/z.{ending}'")
            types, rows = self.rows(f"z.{ending}")
            self.assertEqual(types["val"], "FixedSizeList[2]<Float64>")
            np.testing.assert_allclose([row[1] for row in rows], [[value, 0] for value in values.sum(1)], rtol=1e-12)

    def test_what_it_writes(self):
        self.node("""
            const column = (type, values) => arrow.vectorFromArray(values, type);
            const table = new arrow.Table({
              i: column(new arrow.Int32(), [0, 2, 1]), key: column(new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8()), ['b', 'a', 'b']),
              day: column(new arrow.DateDay(), [new Date('2024-01-01'), new Date('2024-01-02'), new Date('2024-01-01')]),
              at: column(new arrow.TimestampMillisecond(), [0, 1500, -1]), small: column(new arrow.Float32(), [0.5, null, -2]),
              truth: column(new arrow.Bool(), [true, false, null]), text: column(new arrow.Utf8(), ['', 'ä', null]),
              val: column(new arrow.Float64(), [1, 2, 3])});
            for (const kind of ['file', 'stream']) fs.writeFileSync(kind, arrow.tableToIPC(table, kind));
            const part = n => new arrow.Table({i: column(new arrow.Uint8(), [n]), val: column(new arrow.Int16(), [10 * n])});
            fs.writeFileSync('parts', arrow.tableToIPC(part(0).concat(part(3)).concat(part(1)), 'file'));""")
        db = eindb.connect()
        for kind, form in (("file", "arrow"), ("stream", "arrows"), ("file", "arrows")):
            db.execute("CREATE OR REPLACE TENSOR X (i 3, key IN ('a', 'b'), day IN ('2024-01-01', '2024-01-02'))")
            db.execute("DROP TABLE IF EXISTS t")
            db.execute("CREATE TABLE t (i, key, day, at, small, truth, text, val)")
            db.execute(f"COPY t FROM '{self.folder}/{kind}' (FORMAT {form})")
            self.assertEqual(db.execute("SELECT * FROM t").fetchall(),
                             [(0, "b", "2024-01-01", "1970-01-01 00:00:00", 0.5, 1, "", 1),
                              (2, "a", "2024-01-02", "1970-01-01 00:00:01.5", None, 0, "ä", 2),
                              (1, "b", "2024-01-01", "1969-12-31 23:59:59.999", -2, None, None, 3)])
        db.execute(f"COPY Parts FROM '{self.folder}/parts' (FORMAT arrow)")
        self.assertEqual((db["Parts"].numpy().tolist(), db["Parts"].labels), ([0, 10, 0, 30], ("i",)))


if __name__ == "__main__":
    unittest.main()
