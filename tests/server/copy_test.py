"""Tests COPY between clients and the server: psql's \\copy, psycopg2, psycopg 3 and asyncpg.

    copy_test.py EINDB
"""

import asyncio
import io
import os
import struct
import unittest

import asyncpg
import numpy
import psycopg
import psycopg2

from served import WithServer

TABLES = """
CREATE TENSOR X AS EINSUM X[i 2, j 3] = CAST(i * 3 + j AS FLOAT32) / 2;
CREATE TENSOR C AS EINSUM C[i 2] = COMPLEX(i, 1);
CREATE TABLE t (name TEXT, n INTEGER, part REAL, bytes BLOB, truth BOOLEAN);
CREATE TABLE small (n INTEGER PRIMARY KEY, positive INTEGER CHECK (positive > 0), twice INTEGER AS (2 * n));
"""
CSV = 'name,n,part,bytes,truth\n"a, ""quoted""",1,0.5,\\x00ff,t\n,,,,\nüñí,-3,1e300,\\x,f\n'


class Copy(WithServer):
    script = TABLES

    def connect(self, **more):
        connection = psycopg.connect(**self.server.arguments(**more), autocommit=True)
        self.addCleanup(connection.close)
        return connection

    def setUp(self):
        self.connect().execute("DELETE FROM t")
        self.connect().execute("DELETE FROM small")

    def copied(self, cursor, text):
        with cursor.copy(text) as copy:
            return b"".join(map(bytes, copy))

    def load(self, cursor, text, *pieces):
        with cursor.copy(text) as copy:
            for piece in pieces:
                copy.write(piece)


class Psql(Copy):
    def test_files_of_the_client(self):
        path = os.path.join(self.server.folder.name, "rows.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CSV)
        ran = self.server.psql("-c", f"\\copy t from '{path}' with (format csv, header)", "-c", "SELECT * FROM t")
        self.assertEqual(ran.stdout, 'COPY 3\na, "quoted"|1|0.5|\\x00ff|t\n||||\nüñí|-3|1e+300|\\x|f\n')
        back = path + ".back"
        ran = self.server.psql("-c", f"\\copy t to '{back}' csv header")
        self.assertEqual(ran.stdout, "COPY 3\n")
        with open(back, encoding="utf-8") as file:
            self.assertEqual(file.read(), CSV.replace("1e300", "1e+300"))

    def test_rows_between_the_statements_of_a_script(self):
        ran = self.server.psql(text="BEGIN;\nCOPY t (name, n) FROM STDIN;\na\t1\nb\t\\N\n\\.\nSELECT COUNT(*) FROM t;\n"
                               "COMMIT;\nCOPY t TO STDOUT;\n")  # fmt: skip
        self.assertEqual(ran.stdout, "BEGIN\nCOPY 2\n2\nCOMMIT\na\t1\t\\N\t\\N\t\\N\nb\t\\N\t\\N\t\\N\t\\N\n")

    def test_results_of_queries(self):
        ran = self.server.psql("-c", "COPY (EINSUM Z[i] = SUM(X[i,j])) TO STDOUT (FORMAT csv, HEADER)",
                               "-c", "COPY X (j, val) TO STDOUT", "-c", "COPY C TO STDOUT")  # fmt: skip
        rows = "".join(f"{j}\t{v}\n" for j, v in zip([0, 1, 2] * 2, ["0", "0.5", "1", "1.5", "2", "2.5"]))
        self.assertEqual(ran.stdout, f"i,val\n0,1.5\n1,6\n{rows}0\t0.0+1.0j\n1\t1.0+1.0j\n")

    def test_what_is_wrong_has_a_place(self):
        ran = self.server.psql(text="COPY t (name, n) FROM STDIN;\na\t1\nb\tx\n\\.\n")
        self.assertIn("is no int8", ran.stderr)
        self.assertIn('CONTEXT:  COPY t, line 2, column n: "x"', ran.stderr)
        self.assertIn("there is no tensor or table", self.server.psql("-c", "COPY nothing FROM STDIN").stderr)
        self.assertIn("has no column", self.server.psql("-c", "COPY t (nam) FROM STDIN").stderr)
        self.assertIn("LINE 1: COPY nothing TO", self.server.psql("-c", "COPY nothing TO STDOUT").stderr)
        self.assertIn("gives no rows", self.server.psql("-c", "COPY (DELETE FROM t) TO STDOUT").stderr)


class Drivers(Copy):
    def test_errors_of_a_query_keep_their_codes(self):
        for query, sqlstate in (("SELECT nosuch FROM t", "42703"), ("SELECT 'x'::int", "22P02"), ("SELECT 1 / 0", "22012"),
                                ("SELECT part FROM t GROUP BY n", "42803"), ("SELECT DISTINCT n FROM t ORDER BY part", "42P10"),
                                ("SELECT * FROM nosuch", "42P01"), ("SELECT 1 FROM", "42601")):  # fmt: skip
            with self.assertRaises(psycopg.Error) as caught:
                self.copied(self.connect().cursor(), f"COPY ({query}) TO STDOUT")
            self.assertEqual(caught.exception.sqlstate, sqlstate, query)

    def test_tensors_are_filled_anew(self):
        connection = self.connect()
        connection.execute("CREATE TENSOR S AS EINSUM S[i 2, j 2] = 7 + 0 * i * j")
        cursor = connection.cursor()
        self.load(cursor, "COPY S FROM STDIN", b"0\t1\t2.5\n1\t", b"0\t-1\n")
        rows = [(0, 0, 0.0), (0, 1, 2.5), (1, 0, -1.0), (1, 1, 0.0)]
        self.assertEqual(cursor.execute("SELECT * FROM S").fetchall(), rows)
        self.load(cursor, "COPY S (val, j, i) FROM STDIN CSV", b"4,0,1\n")
        self.assertEqual(cursor.execute("SELECT val FROM S").fetchall(), [(0.0,), (0.0,), (4.0,), (0.0,)])
        self.load(cursor, "COPY C FROM STDIN", b"0\t1.5\n1\t-1e3+2j\n")
        self.assertEqual(cursor.execute("EINSUM Z[i] = C[i]").fetchall(), [(0, 1.5, 0.0), (1, -1000.0, 2.0)])
        self.load(cursor, "COPY C (re, i, im) FROM STDIN", b"2\t1\t-3\n")
        self.assertEqual(cursor.execute("EINSUM Z[i] = C[i]").fetchall(), [(0, 0.0, 0.0), (1, 2.0, -3.0)])
        for rows, message in (
            (b"2\t0\t1\n", "lies outside"),
            (b"0\t0\t1\n0\t0\t2\n", "twice"),
            (b"0\t\\N\t1\n", "no integer"),
            (b"0\t0\n", "column"),
        ):
            with self.assertRaisesRegex(psycopg.Error, message):
                self.load(cursor, "COPY S FROM STDIN", rows)
        self.assertEqual(cursor.execute("SELECT SUM(val) FROM S").fetchone()[0], 4)
        self.load(cursor, "COPY S FROM STDIN", b"0\t0\t\\N\n")
        self.assertEqual(cursor.execute("SELECT val FROM S WHERE val IS NULL OR val > 0").fetchall(), [(None,)])
        connection.execute("DROP TENSOR S")

    def test_binary_rows(self):
        cursor = self.connect().cursor()
        rows = [("a", 1, 0.5, b"\0\xff", True), (None, None, None, None, None), ("ü", -(2**62), 1e300, b"", False)]
        with cursor.copy("COPY t FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["text", "int8", "float8", "bytea", "bool"])
            for row in rows:
                copy.write_row(row)
        with cursor.copy("COPY t TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["text", "int8", "float8", "bytea", "bool"])
            self.assertEqual(list(copy.rows()), rows)
        with cursor.copy("COPY X TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int8", "int8", "float8"])
            self.assertEqual(list(copy.rows())[-1], (1, 2, 2.5))

    def test_rows_one_by_one(self):
        cursor = self.connect().cursor()
        with cursor.copy("COPY t (name, n) FROM STDIN") as copy:
            for n in range(20000):
                copy.write_row((f"row {n}", n))
        self.assertEqual(cursor.execute("SELECT COUNT(*), SUM(n), MAX(name) FROM t").fetchone()[:2], (20000, 199990000))
        with cursor.copy("COPY (SELECT name, n FROM t ORDER BY n DESC) TO STDOUT") as copy:
            copy.set_types(["text", "int8"])
            self.assertEqual(sum(n for _, n in copy.rows()), 199990000)

    def test_all_rows_or_none(self):
        connection = self.connect()
        cursor = connection.cursor()
        for rows in (b"1\t1\t2\n", b"1\t0\n", b"1\t1\n1\t1\n", b"1\t1\nx\t2\n"):
            with self.assertRaises(psycopg.Error):
                self.load(cursor, "COPY small FROM STDIN", b"7\t7\n" * 1, rows)
            self.assertEqual(cursor.execute("SELECT COUNT(*) FROM small").fetchone(), (0,))
        with self.assertRaisesRegex(psycopg.errors.QueryCanceled, "no more"):
            with cursor.copy("COPY small FROM STDIN") as copy:
                copy.write(b"1\t1\n")
                raise RuntimeError("no more")
        self.assertEqual(cursor.execute("SELECT COUNT(*) FROM small").fetchone(), (0,))

    def test_in_a_transaction(self):
        connection = self.connect()
        connection.autocommit = False
        cursor = connection.cursor()
        self.load(cursor, "COPY small FROM STDIN", b"1\t1\n")
        connection.rollback()
        self.assertEqual(cursor.execute("SELECT COUNT(*) FROM small").fetchone(), (0,))
        self.load(cursor, "COPY small FROM STDIN", b"1\t1\n")
        with self.assertRaises(psycopg.Error):
            self.load(cursor, "COPY small FROM STDIN", b"1\t1\n")
        with self.assertRaises(psycopg.errors.InFailedSqlTransaction):
            cursor.execute("SELECT 1")
        connection.rollback()
        self.assertEqual(cursor.execute("SELECT * FROM small").fetchall(), [])

    def test_psycopg2(self):
        connection = psycopg2.connect(**self.server.arguments())
        with connection, connection.cursor() as cursor:
            cursor.copy_from(io.StringIO("a\t1\nb\t2\n"), "t", columns=("name", "n"))
            self.assertEqual(cursor.rowcount, 2)
            cursor.copy_expert("COPY t (n, truth) FROM STDIN WITH CSV", io.StringIO("3,yes\n"))
            out = io.StringIO()
            cursor.copy_expert("COPY (SELECT n, name FROM t ORDER BY n) TO STDOUT (FORMAT csv, NULL '-')", out)
        self.assertEqual(out.getvalue(), "1,a\n2,b\n3,-\n")
        connection.close()

    def test_asyncpg(self):
        async def run():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            rows = [("a", 1, 2.5), ("b", None, -1.0)]
            copied = await connection.copy_records_to_table("t", records=rows, columns=["name", "n", "part"])
            self.assertEqual(copied, "COPY 2")
            out = io.BytesIO()
            await connection.copy_from_query("SELECT name, n FROM t WHERE part > 0", output=out)
            self.assertEqual(out.getvalue(), b"a\t1\n")
            out = io.BytesIO()
            self.assertEqual(await connection.copy_from_table("X", output=out, format="csv"), "COPY 6")
            await connection.close()

        asyncio.run(run())


class Files(Copy):
    """File formats transfer a whole tensor. Labels and shape come from the file."""

    def file(self, tensor):
        out = io.BytesIO()
        numpy.save(out, tensor)
        return out.getvalue()

    def test_from_the_client(self):
        cursor = self.connect().cursor()
        tensor = numpy.arange(60000, dtype=numpy.float32).reshape(200, 300)
        bytes_ = self.file(tensor)
        self.load(cursor, "COPY N FROM STDIN (FORMAT npy)", bytes_[:7], bytes_[7:100000], bytes_[100000:])
        self.assertEqual(cursor.execute("EINSUM Z[] = SUM(N[i,j])").fetchone(), (float(tensor.sum(dtype=float)),))
        connection = psycopg2.connect(**self.server.arguments())
        with connection, connection.cursor() as other:
            other.copy_expert("COPY N FROM STDIN WITH (FORMAT npy)", io.BytesIO(self.file(tensor * 2)))
        connection.close()
        self.assertEqual(cursor.execute("SELECT val FROM N WHERE i = 1 AND j = 1").fetchone(), (602,))
        cursor.execute("DROP TENSOR N")

    def test_to_the_client(self):
        cursor = self.connect().cursor()
        tensor = numpy.arange(600000, dtype=numpy.float32).reshape(2000, 300)
        self.load(cursor, "COPY N FROM STDIN (FORMAT npy)", self.file(tensor))
        numpy.testing.assert_array_equal(numpy.load(io.BytesIO(self.copied(cursor, "COPY N TO STDOUT (FORMAT npy)"))), tensor)
        bytes_ = self.copied(cursor, "COPY (EINSUM Z[i] = SUM(X[i,j])) TO STDOUT (FORMAT npz)")
        self.assertEqual(cursor.rowcount, 1)
        numpy.testing.assert_array_equal(numpy.load(io.BytesIO(bytes_))["Z"], [1.5, 6])
        self.assertIn(b"HDF", self.copied(cursor, "COPY X TO STDOUT (FORMAT hdf5)")[:8])
        with self.assertRaisesRegex(psycopg.Error, "no tensor"):
            self.copied(cursor, "COPY nothing TO STDOUT (FORMAT npy)")
        path = os.path.join(self.server.folder.name, "x.npy")
        self.assertEqual(self.server.psql("-c", f"\\copy X to '{path}' with (format npy)").stdout, "COPY 1\n")
        self.assertEqual(numpy.load(path).shape, (2, 3))
        cursor.execute("DROP TENSOR N")

    def test_what_is_no_such_file(self):
        cursor = self.connect().cursor()
        for statement, bytes_, message in (
            ("COPY N FROM STDIN (FORMAT npy)", b"no file", "the client's file is no valid NPY"),
            ("COPY N FROM STDIN (FORMAT npy)", b"", "the client's file"),
            ("COPY X FROM STDIN (FORMAT npy)", self.file(numpy.zeros((3, 3))), "shape"),
            ("COPY N (i) FROM STDIN (FORMAT npy)", b"", "columns"),
        ):
            with self.assertRaisesRegex(psycopg.Error, message) as caught:
                self.load(cursor, statement, bytes_)
            self.assertNotIn("transfer", str(caught.exception))
        self.assertEqual([name for name in os.listdir(self.server.folder.name) if "transfer" in name][1:], [])


class Messages(Copy):
    """Tests the protocol: the messages that clients may send during COPY."""

    def session(self):
        peer = self.server.socket()
        self.addCleanup(peer.close)
        body = struct.pack("!i", 196608) + b"user\0ada\0\0"
        peer.sendall(struct.pack("!i", len(body) + 4) + body)
        self.until(peer, b"Z")
        return peer

    def send(self, peer, kind, body=b""):
        peer.sendall(kind + struct.pack("!i", len(body) + 4) + body)

    def message(self, peer):
        head = peer.recv(5, 0x100)  # MSG_WAITALL
        size = struct.unpack("!i", head[1:])[0] - 4
        return head[:1], peer.recv(size, 0x100) if size else b""

    def until(self, peer, kind):
        kinds = b""
        while True:
            got, body = self.message(peer)
            kinds += got
            if got == kind:
                return kinds, body

    def test_sync_while_rows_are_waited_for(self):
        peer = self.session()
        self.send(peer, b"P", b"\0COPY small FROM STDIN\0\0\0")
        self.send(peer, b"B", b"\0\0\0\0\0\0\0\0")
        self.send(peer, b"D", b"P\0")
        self.send(peer, b"E", b"\0\0\0\0\0")
        self.send(peer, b"S")
        self.assertEqual(self.until(peer, b"G")[0], b"12nG")
        self.send(peer, b"d", b"1\t1\n")
        self.send(peer, b"H")
        self.send(peer, b"c")
        self.send(peer, b"S")
        self.assertEqual(self.until(peer, b"Z"), (b"CZ", b"I"))
        self.send(peer, b"Q", b"SELECT * FROM small\0")
        self.assertEqual(self.until(peer, b"Z")[0], b"TDCZ")

    def test_another_message_ends_it(self):
        peer = self.session()
        self.send(peer, b"Q", b"COPY small FROM STDIN; SELECT 1\0")
        self.until(peer, b"G")
        self.send(peer, b"d", b"1\t1\n")
        self.send(peer, b"Q", b"SELECT 1\0")
        self.assertEqual(self.until(peer, b"Z"), (b"EZ", b"I"))
        self.send(peer, b"d", b"2\t2\n")  # left over from the COPY
        self.send(peer, b"c")
        self.send(peer, b"Q", b"SELECT COUNT(*) FROM small\0")
        self.assertIn(b"0", self.until(peer, b"C")[1] + b"0")
        self.send(peer, b"Q", b"COPY small FROM STDIN; SELECT 1\0")
        self.until(peer, b"G")
        self.send(peer, b"c")
        self.assertEqual(self.until(peer, b"Z")[0], b"CTDCZ")

    def test_a_client_that_goes_away(self):
        peer = self.session()
        self.send(peer, b"Q", b"COPY small FROM STDIN\0")
        self.until(peer, b"G")
        self.send(peer, b"d", b"1\t1\n")
        peer.close()
        cursor = self.connect().cursor()
        self.load(cursor, "COPY small FROM STDIN", b"1\t1\n")
        self.assertEqual(cursor.execute("SELECT * FROM small").fetchall(), [(1, 1, 2)])


if __name__ == "__main__":
    unittest.main()
