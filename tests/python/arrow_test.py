#!/usr/bin/python3
"""arrow_test.py: what is handed to other libraries by Arrow's C interfaces, and what they hand over.

Both sides are tried with the consumer and the producer of arrow_structs.py.
"""
import ctypes
import datetime
import gc
import json
import os
import struct
import sys
import threading
import unittest

import numpy as np

import eindb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrow_structs import (  # noqa: E402
    NUMBERS, Array, ArrayProducer, Producer, Schema, Stream, consume, error_of, metadata_of, new_capsule, numbers, release,
    table, take, texts, values_of, views)


class ArrowTest(unittest.TestCase):
    def setUp(self):
        self.db = eindb.connect()
        self.addCleanup(self.db.close)

    def stored(self, *batches, **options):
        producer = Producer(batches)
        self.db.store("X", producer, **options)
        gc.collect()
        self.assertEqual(producer.live, 0, "all that was handed over is released")
        return self.db["X"]


class Results(ArrowTest):
    def test_tensors(self):
        for code in ("f4", "f8", "i8", "c8", "c16"):
            values = np.arange(24).reshape(2, 3, 4).astype(code)
            formats, rows, _ = consume(self.db.execute("EINSUM Z[i,j,k] = X[i,j,k]", X=values))
            single = {"f4": "f", "f8": "g", "i8": "l", "c8": "+w:2", "c16": "+w:2"}[code]
            self.assertEqual(formats, {"i": "l", "j": "l", "k": "l", "val": single})
            expected = [(*index, [value.real, value.imag] if code[0] == "c" else value)
                        for index, value in np.ndenumerate(values)]
            self.assertEqual(rows, expected)

    def test_tiles_come_in_the_order_of_cells(self):
        self.db.execute("SET tile_bytes = 256")
        values = np.random.default_rng(1).standard_normal((37, 53))
        self.db["X"] = values
        formats, rows, sizes = consume(self.db["X"])
        self.assertEqual(rows, [(*index, value) for index, value in np.ndenumerate(values)])
        self.assertEqual((len(rows), formats["val"]), (37 * 53, "g"))
        cursor = self.db.execute("EINSUM Z[i,j] = X[i,j] + 1")
        self.assertEqual(consume(cursor)[1], consume(cursor)[1])  # as often as they are asked for

    def test_batches(self):
        formats, rows, sizes = consume(self.db.execute("EINSUM Z[i 300000] = i"))
        self.assertTrue(all(size <= 65536 for size in sizes) and sum(sizes) == 300000)
        self.assertEqual(rows[-1][0], 299999)
        formats, rows, sizes = consume(self.db.execute(
            "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 149999) SELECT x, x / 2.0 AS h FROM n"))
        self.assertEqual((sizes, formats, rows[7]), ([65536, 65536, 18928], {"x": "l", "h": "g"}, (7, 3.5)))

    def test_empty_and_scalar(self):
        self.assertEqual(consume(self.db.execute("EINSUM Z[i 0, j 3] = i"))[1:], ([], []))
        self.assertEqual(consume(self.db.execute("EINSUM Z[] = 2.5"))[1], [(2.5,)])
        self.db.execute("CREATE TABLE t (a INTEGER, b TEXT, c REAL, d BLOB)")
        formats, rows, _ = consume(self.db.execute("SELECT * FROM t"))
        self.assertEqual((list(formats), rows), (["a", "b", "c", "d"], []))

    def test_sql_columns(self):
        self.db.execute("CREATE TABLE t (a INTEGER, b TEXT, c REAL, d BLOB, e)")
        self.db.execute("INSERT INTO t VALUES (1, 'one', 1.5, x'00FF', NULL), (NULL, NULL, NULL, NULL, NULL), (-3, 'ä', 2, x'', NULL)")
        formats, rows, _ = consume(self.db.execute("SELECT * FROM t"))
        self.assertEqual(formats, {"a": "l", "b": "U", "c": "g", "d": "Z", "e": "n"})
        self.assertEqual(rows, [(1, "one", 1.5, b"\x00\xff", None), (None,) * 5, (-3, "ä", 2.0, b"", None)])
        formats, rows, _ = consume(self.db.execute("SELECT 1 AS x UNION ALL SELECT 2.5"))
        self.assertEqual((formats, rows), ({"x": "g"}, [(1.0,), (2.5,)]))

    def test_a_value_of_another_type_later(self):
        cursor = self.db.execute(
            "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 70000) "
            "SELECT CASE WHEN x < 70000 THEN x ELSE 'text' END AS y FROM n")
        with self.assertRaisesRegex(RuntimeError, "column y has a value that is no integer"):
            consume(cursor)

    def test_errors_come_from_the_stream(self):
        cursor = self.db.execute("SELECT abs(x) AS x FROM (SELECT 1 AS x UNION ALL SELECT -9223372036854775807 - 1)")
        stream = take(cursor.__arrow_c_stream__(), b"arrow_array_stream", Stream)
        schema = Schema()
        self.assertNotEqual(stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)), 0)
        self.assertIn("integer overflow", error_of(stream))
        array = Array()
        self.assertNotEqual(stream.get_next(ctypes.byref(stream), ctypes.byref(array)), 0)
        self.assertFalse(array.release)
        release(stream)

    def test_names_and_calendars(self):
        self.db.execute("CREATE TENSOR R (city IN ('Oslo', 'Bergen'), day FROM '2024-01-30' TO '2024-02-01', "
                        "hour FROM '2024-01-01 00:00:00' TO '2024-01-01 12:00:00' STEP '12 hours')")
        self.db.execute("INSERT INTO TENSOR R VALUES ('Bergen', '2024-02-01', '2024-01-01 12:00:00', 7)")
        formats, rows, _ = consume(self.db["R"])
        self.assertEqual(formats, {"city": "U", "day": "tdD", "hour": "tss:", "val": "g"})
        day = datetime.date(2024, 2, 1).toordinal() - datetime.date(1970, 1, 1).toordinal()
        time = int(datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.timezone.utc).timestamp())
        self.assertEqual(rows[-1], ("Bergen", day, time, 7.0))
        self.db.execute("CREATE TENSOR S (city IN ('Oslo', 'Bergen'), day FROM '2024-01-30' TO '2024-02-01', "
                        "hour FROM '2024-01-01 00:00:00' TO '2024-01-01 12:00:00' STEP '12 hours')")
        self.assertEqual(self.db.load("S", self.db["R"]), 12)
        np.testing.assert_array_equal(self.db["S"].numpy(), self.db["R"].numpy())

    def test_dense_tensors(self):
        for code in ("f4", "f8", "i8", "c16"):
            values = np.arange(24).reshape(2, 3, 4).astype(code)
            self.db["X"] = values
            for source in (self.db["X"], self.db.execute("EINSUM Z[i,j,k] = X[i,j,k]")):
                schema, array = source.arrow().__arrow_c_array__()
                schema, array = take(schema, b"arrow_schema", Schema), take(array, b"arrow_array", Array)
                about = metadata_of(schema)
                self.assertEqual(about["ARROW:extension:name"], "arrow.fixed_shape_tensor")
                self.assertEqual(json.loads(about["ARROW:extension:metadata"])["shape"], [3, 4] + [2] * (code == "c16"))
                found = np.array(values_of(schema, array)).reshape(-1)
                np.testing.assert_array_equal(found, values.view("f8").reshape(-1) if code == "c16" else values.reshape(-1))
                release(array)
                release(schema)
            self.db["Y"] = self.db["X"].arrow()
            if code != "c16":
                np.testing.assert_array_equal(self.db["Y"].numpy(), values)

    def test_capsules_that_nobody_takes(self):
        self.db["X"] = np.ones((3, 3))
        for _ in range(100):
            self.db["X"].__arrow_c_stream__()
            self.db.execute("SELECT 1").__arrow_c_stream__()
            self.db["X"].arrow().__arrow_c_array__()
            self.db["X"].arrow().__arrow_c_schema__()
        schema = take(self.db["X"].__arrow_c_schema__(), b"arrow_schema", Schema)
        self.assertEqual([schema.children[n].contents.name for n in range(schema.n_children)], [b"i", b"j", b"val"])
        release(schema)
        self.db.execute("EINSUM Z[i] = SUM[j](X[i,j])").__arrow_c_schema__()
        with self.assertRaises(eindb.ProgrammingError):
            self.db.execute("SELECT 1").__arrow_c_schema__()

    def test_a_stream_outlives_its_connection(self):
        other = eindb.connect()
        other.execute("CREATE TABLE t AS SELECT 1 AS x")
        cursor = other.execute("SELECT x FROM t")
        capsule = cursor.__arrow_c_stream__()
        tensor = other.execute("EINSUM Z[i 3] = i").__arrow_c_stream__()
        other.close()
        del other, cursor
        gc.collect()

        class Source:
            def __init__(self, capsule):
                self.capsule = capsule

            def __arrow_c_stream__(self):
                return self.capsule

        self.assertEqual(consume(Source(capsule))[1], [(1,)])
        self.assertEqual(consume(Source(tensor))[1], [(0, 0), (1, 1), (2, 2)])

    def test_from_other_threads(self):
        self.db.execute("CREATE TABLE t AS SELECT 5 AS x")
        found = []
        cursors = [self.db.execute("SELECT x FROM t") for _ in range(8)]
        threads = [threading.Thread(target=lambda c=cursor: found.append(consume(c)[1])) for cursor in cursors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [[(5,)]] * 8)

    def test_what_is_refused(self):
        cursor = self.db.execute("SELECT 1 UNION ALL SELECT 2")
        cursor.fetchone()
        with self.assertRaises(eindb.InterfaceError):
            cursor.__arrow_c_stream__()
        with self.assertRaises(eindb.InterfaceError):
            self.db.execute("CREATE TABLE u (x)").__arrow_c_stream__()
        with self.assertRaises(eindb.ProgrammingError):
            self.db.execute("SELECT 1").arrow()


class Inputs(ArrowTest):
    def test_arrays_are_read_where_they_lie(self):
        for format_, code in (("f", "f4"), ("g", "f8"), ("l", "i8")):
            producer = Producer([numbers(format_, [1, 2, 3])])
            got = self.db.execute("EINSUM Z[i] = 2 * X[i]", X=producer).numpy()
            self.assertEqual((got.tolist(), got.dtype), ([2, 4, 6], np.dtype(code)))
            gc.collect()
            self.assertEqual(producer.live, 0)
            held = eindb._arrow.array_of(Producer([numbers(format_, [1, 2, 3], offset=1, length=2)]))
            self.assertEqual(held.tolist(), [2, 3])
            self.assertFalse(held.flags.writeable)
            self.assertEqual(held.dtype, np.dtype(code))

    def test_all_numbers(self):
        for format_, code in NUMBERS.items():
            if len(format_) > 1:
                continue
            for make in (Producer, ArrayProducer):
                producer = make([numbers(format_, [0, 1, 100])])
                self.assertEqual(eindb.einsum("i->i", producer).tolist(), [0, 1, 100])
                gc.collect()
                self.assertEqual(producer.live, 0)
        bits = {"format": "b", "length": 5, "offset": 3, "buffers": [None, bytes([0b10101000, 1])]}
        self.assertEqual(eindb.einsum("i->i", Producer([bits])).tolist(), [1, 0, 1, 0, 1])
        half = Producer([numbers("e", [0.5, -2, np.inf, 6e-8, np.nan])])
        np.testing.assert_array_equal(eindb.einsum("i->i", half), np.array([0.5, -2, np.inf, 6e-8, np.nan], "f2").astype("f4"))

    def test_several_batches_and_missing_values(self):
        got = eindb.einsum("i->i", Producer([numbers("f", [1, 2]), numbers("f", []), numbers("f", [3])]))
        self.assertEqual((got.tolist(), got.dtype), ([1, 2, 3], np.dtype("f4")))
        missing = numbers("g", [1, 2, 3], nulls=1)
        missing["buffers"][0] = bytes([0b101])
        np.testing.assert_array_equal(eindb.einsum("i->i", Producer([missing])), [1, np.nan, 3])
        missing = numbers("l", [1, 2, 3], nulls=-1)
        missing["buffers"][0] = bytes([0b101])
        with self.assertRaisesRegex(Exception, "missing value"):
            eindb.einsum("i->i", Producer([missing]))

    def test_lists_and_tensors(self):
        inner = numbers("g", range(14))
        lists = {"format": "+w:2", "length": 3, "offset": 1, "buffers": [None], "children": {"item": {**inner, "offset": 2, "length": 12}}}
        np.testing.assert_array_equal(eindb.einsum("ij->ij", Producer([lists])), [[4, 5], [6, 7], [8, 9]])
        tensors = {"format": "+w:6", "length": 2, "buffers": [None], "children": {"item": numbers("f", range(12))},
                   "metadata": {"ARROW:extension:name": "arrow.fixed_shape_tensor",
                                "ARROW:extension:metadata": '{"shape": [2, 3]}'}}
        np.testing.assert_array_equal(eindb.einsum("ijk->ijk", Producer([tensors])), np.arange(12).reshape(2, 2, 3))
        for about in ('{"shape": [2, 4]}', '{"shape": "x"}', "", '{"shape": [-2, -3]}', '{"shape": [4611686018427387904, 16]}',
                      '{"shape": [2, 3], "permutation": [1, 0]}'):
            bad = {**tensors, "metadata": {**tensors["metadata"], "ARROW:extension:metadata": about}}
            with self.assertRaises(eindb.Error):
                eindb.einsum("ijk->ijk", Producer([bad]))

    def test_rows_become_a_tensor(self):
        stored = self.stored(table(i=numbers("i", [0, 2]), j=numbers("C", [1, 0]), val=numbers("f", [1.5, 2.5])),
                             table(i=numbers("i", [1]), j=numbers("C", [1]), val=numbers("f", [-1])))
        np.testing.assert_array_equal(stored.numpy(), [[0, 1.5], [0, -1], [2.5, 0]])
        self.assertEqual(stored.labels, ("i", "j"))
        stored = self.stored(table(city=texts(["Oslo", "Bergen"]), day=numbers("tdD", [19723, 19724]), amount=numbers("s", [3, 4])))
        self.assertEqual((stored.labels, stored.stored_type), (("city", "day"), "INT64"))
        self.assertEqual(stored.names, (["Bergen", "Oslo"], ["2024-01-01", "2024-01-02"]))
        np.testing.assert_array_equal(stored.numpy(), [[0, 4], [3, 0]])
        long = "a name that is longer than twelve bytes"
        stored = self.stored(table(name=views(["short", long]), val=numbers("g", [1, 2])), type="FLOAT32", labels=["n"])
        self.assertEqual((stored.names, stored.labels, stored.stored_type), ((sorted(["short", long]),), ("n",), "FLOAT32"))
        keys = {"format": "c", "length": 3, "buffers": [None, bytes([1, 0, 1])], "dictionary": texts(["b", "a"], "U")}
        stored = self.stored(table(i=numbers("l", [0, 0, 1]), key=keys, val=numbers("g", [1, 2, 3])))
        np.testing.assert_array_equal(stored.numpy(), [[1, 2], [3, 0]])

    def test_slices_of_batches(self):
        sliced = table(i=numbers("l", [9, 0, 1, 9]), val=texts(["no", "x", "yy", "no"], "U"))
        sliced.update(offset=1, length=2)
        self.db.execute("CREATE TABLE t (i INTEGER, val TEXT)")
        self.assertEqual(self.db.load("t", Producer([sliced])), 2)
        self.assertEqual(self.db.execute("SELECT * FROM t").fetchall(), [(0, "x"), (1, "yy")])

    def test_rows_are_added_to_a_table(self):
        self.db.execute("CREATE TABLE t (a INTEGER, b TEXT, c REAL)")
        column = texts(["x", "", "z"], nulls=1)
        column["buffers"][0] = bytes([0b101])
        moments = numbers("tss:", [0, 1, -1])
        self.assertEqual(self.db.load("t", Producer([table(b=column, A=numbers("l", [1, 2, 3]))])), 3)
        self.assertEqual(self.db.execute("SELECT * FROM t").fetchall(), [(1, "x", None), (2, None, None), (3, "z", None)])
        self.db.execute("CREATE TABLE u (t TEXT)")
        self.db.load("u", Producer([table(t=moments)]))
        self.assertEqual([row[0] for row in self.db.execute("SELECT * FROM u")],
                         ["1970-01-01 00:00:00", "1970-01-01 00:00:01", "1969-12-31 23:59:59"])
        self.assertEqual(self.db.load("t", self.db.execute("SELECT 7 AS a, 'seven' AS b")), 1)
        self.assertEqual(self.db.load("t", Producer([table(a=numbers("l", []))])), 0)

    def test_all_or_nothing(self):
        self.db["X"] = np.ones((2, 2))
        for rows in (table(i=numbers("l", [0, 2]), j=numbers("l", [0, 0]), val=numbers("g", [5, 6])),
                     table(i=numbers("l", [0, 0]), j=numbers("l", [0, 0]), val=numbers("g", [5, 6]))):
            producer = Producer([rows])
            with self.assertRaises(eindb.DataError):
                self.db.load("X", producer)
            self.assertEqual(producer.live, 0)
            np.testing.assert_array_equal(self.db["X"].numpy(), np.ones((2, 2)))
        with self.assertRaises(eindb.ProgrammingError):
            self.db.load("X", Producer([table(i=numbers("l", [0]), nothing=numbers("l", [0]), val=numbers("g", [5]))]))
        with self.assertRaises(eindb.ProgrammingError):
            self.db.load("Q", Producer([table(i=numbers("l", [0]))]))
        with self.assertRaises(eindb.Error):
            self.db.load("X", Producer([numbers("l", [0])]))
        producer = Producer([table(i=numbers("l", [0]), j=numbers("l", [0]), val=numbers("g", [5]))], error="next")
        with self.assertRaisesRegex(eindb.Error, "the cable is cut"):
            self.db.load("X", producer)
        with self.assertRaisesRegex(eindb.Error, "the cable is cut"):
            self.db.load("X", Producer([table()], error="schema"))
        self.assertFalse(self.db.in_transaction)
        np.testing.assert_array_equal(self.db["X"].numpy(), np.ones((2, 2)))

    def test_hostile_structs(self):
        good = numbers("l", [0, 1])
        listed = {"format": "+w:2", "length": 1, "buffers": [None], "children": {"item": good}}
        key = {"format": "c", "length": 2, "buffers": [None, bytes([0, 5])], "dictionary": texts(["a"])}
        wrong = [{**good, "format": ""}, {**good, "format": None}, {**good, "format": "q"}, {**good, "format": "+w:-1"},
                 {**good, "format": "+w:x"}, {**good, "format": "tsx:"}, {**good, "format": "d:10,2,256"}, {**good, "format": "+l"},
                 {**good, "length": -1}, {**good, "offset": -1}, {**good, "offset": 2**62}, {**good, "length": 2**62},
                 {**good, "length": 1}, {**good, "nulls": -2}, {**good, "nulls": 3}, {**good, "nulls": 1},
                 {**good, "buffers": [None]}, {**good, "buffers": [None, None]}, {**good, "n_buffers": 3}, {**good, "n_children": 1},
                 {**good, "n_children_of_schema": -1}, {**good, "n_children_of_schema": 2**40},
                 {**texts(["a", "b"]), "buffers": [None, struct.pack("<3i", 0, -5, 2), b"ab"]},
                 {**texts(["a", "b"]), "buffers": [None, struct.pack("<3i", 2, 1, 0), b"ab"]},
                 {**texts(["a", "b"]), "buffers": [None, struct.pack("<3i", 0, 1, 2), None]},
                 {**texts(["a", "b"]), "buffers": [None, struct.pack("<3i", 0, 1, 2), b"\xff\xfe"]},
                 {**views(["a" * 20, "b"]), "buffers": [None, struct.pack("<i4sii", 20, b"aaaa", 7, 0) * 2, b"a" * 20, bytes(8)]},
                 {**views(["a" * 20, "b"]), "buffers": [None, struct.pack("<i4sii", -3, b"aaaa", 0, 0) * 2, b"a" * 20, bytes(8)]},
                 {**views(["a", "b"]), "buffers": [None, bytes(32)]},
                 key, {**key, "has_dictionary": False}, {**key, "format": "g"}, listed,
                 {**numbers("L", [1, 2**64 - 1])}, {**numbers("tdD", [0, 2**31 - 1])}]
        self.db.execute("CREATE TABLE t (a)")
        for number, column in enumerate(wrong):
            batch = table(a=column)
            batch["length"] = 2
            producer = Producer([batch])
            with self.assertRaises(eindb.Error, msg=number):
                self.db.load("t", producer)
            gc.collect()
            self.assertEqual(producer.live, 0, number)
        for batch in ({**table(a=good), "length": 2**62}, {**table(a=good), "offset": 1}, {**table(a=good), "buffers": []},
                      {**table(a=good), "n_children": 2}, {**table(a=good), "nulls": 1, "buffers": [bytes([1])]}):
            producer = Producer([batch])
            with self.assertRaises(eindb.Error):
                self.db.load("t", producer)
            self.assertEqual(producer.live, 0)
        self.assertEqual(self.db.execute("SELECT COUNT(*) FROM t").fetchone(), (0,))

    def test_what_is_released_or_no_capsule(self):
        producer = Producer([table(a=numbers("l", [0]))])
        capsule = producer.__arrow_c_stream__()

        class Source:
            def __init__(self, given):
                self.given = given

            def __arrow_c_stream__(self):
                return self.given

        self.db.execute("CREATE TABLE t (a)")
        self.db.load("t", Source(capsule))
        with self.assertRaisesRegex(Exception, "released, or read by others"):
            self.db.load("t", Source(capsule))
        for other in (None, 5, new_capsule(ctypes.addressof(Stream()), b"arrow_array", None)):
            with self.assertRaises(TypeError):
                self.db.load("t", Source(other))
        with self.assertRaisesRegex(TypeError, "rows of Arrow are no array"):
            eindb.einsum("i->i", Producer([table(a=numbers("l", [0]))]))

    def test_a_round_trip(self):
        values = np.random.default_rng(3).standard_normal((5, 7)).astype("f4")
        self.db["X"] = values
        self.db.store("Y", self.db.execute("SELECT * FROM X"), type="FLOAT32")
        np.testing.assert_array_equal(self.db["Y"].numpy(), values)
        other = eindb.connect()
        other.store("Z", self.db["X"].arrow())
        np.testing.assert_array_equal(other["Z"].numpy(), values)


if __name__ == "__main__":
    unittest.main()
