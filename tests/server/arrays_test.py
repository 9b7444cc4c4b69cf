"""Clients fetch whole tensors as one value: SET result_format, with psycopg2, psycopg 3 and asyncpg. NumPy is the
oracle.

    arrays_test.py EINDB
"""

import asyncio
import io
import struct
import unittest

import asyncpg
import numpy as np
import psycopg
import psycopg2

from served import WithServer

# Each tensor by its name: the element at (i, j, k) for eindb and for NumPy, the shape, and the partition. There are
# absent tiles, values that text must not round, and rows that are shorter and longer than a strip.
TENSORS = {
    "F": ("CAST(i * 0.1 + j / 3 AS FLOAT32)", lambda i, j: (i * 0.1 + j / 3).astype(np.float32), (5, 7), "2, 3"),
    "D": ("i * 0.1 - j / 3", lambda i, j: i * 0.1 - j / 3, (50, 70), "3, 8"),
    "N": ("(i - 2) * 3000000000 + j", lambda i, j: (i - 2) * 3000000000 + j, (4, 3), "4, 1"),
    "C": ("CAST(COMPLEX(i / 2, -j) AS COMPLEX64)", lambda i, j: (i / 2 - 1j * j).astype("c8"), (5, 7), "2, 3"),
    "Z": ("COMPLEX(i / 3, j + k)", lambda i, j, k: i / 3 + 1j * (j + k), (3, 4, 5), "3, 2, 2"),
    "S": ("2.5", lambda: np.array(2.5), (), ""),
    "L": ("i * 0.5", lambda i: i * 0.5, (300000,), "7"),
    "W": ("i + j * 0.5", lambda i, j: i + j * 0.5, (2, 200000), "1, 16"),
    "E": ("i * 0.5", lambda i, j: i * 0.5, (0, 3), ""),
    "B": ("CASE WHEN i = j THEN 1.5 ELSE 0 END", lambda i, j: np.where(i == j, 1.5, 0.0), (64, 64), "8, 8"),
}  # fmt: skip


def oracle(name):
    _, value, shape, _ = TENSORS[name]
    return value(*np.indices(shape))


def script():
    statements = ["CREATE TABLE t (n INTEGER);", "INSERT INTO t VALUES (1), (2);"]
    for name, (value, _, shape, cut) in TENSORS.items():
        partition = f" PARTITION ({cut})" if cut else ""
        labels = ", ".join(f"{label} {extent}" for label, extent in zip("ijk", shape))
        element_type = " INT64" if name == "N" else ""
        statements.append(f"CREATE TENSOR {name}{element_type}{partition} AS EINSUM {name}[{labels}] = {value};")
    return "\n".join(statements)


def query(name):
    labels = ",".join("ijk"[: len(TENSORS[name][2])])
    return f"EINSUM R[{labels}] = {name}[{labels}]"


class Raw:
    """A connection without a driver."""

    def __init__(self, connection):
        self.connection = connection
        body = struct.pack("!i", 196608) + b"user\0ada\0\0"
        connection.sendall(struct.pack("!i", len(body) + 4) + body)
        _, self.greeting = self.drain()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def send(self, kind, body):
        self.connection.sendall(kind + struct.pack("!i", len(body) + 4) + body)

    def drain(self):
        """Reads up to ReadyForQuery. Returns the number of bytes, and the last of them."""
        size, tail = 0, b""
        while not tail[:-1].endswith(b"Z\0\0\0\x05"):
            received = self.connection.recv(1 << 20)
            assert received, "the server left"
            size += len(received)
            tail = (tail + received)[-2000:]
        return size, tail


class Arrays(WithServer):
    script = script()

    def raw(self):
        return Raw(self.server.socket())

    def psycopg(self, **more):
        return psycopg.connect(**self.server.arguments(), autocommit=True, **more)

    def check(self, name, shape, *values):
        expected = oracle(name)
        self.assertEqual(tuple(shape), expected.shape, name)
        parts = [expected.real, expected.imag] if np.iscomplexobj(expected) else [expected]
        self.assertEqual(len(values), len(parts))
        for value, part in zip(values, parts):
            got = np.array(value, dtype=part.dtype).reshape(expected.shape)
            np.testing.assert_array_equal(got, part, name)

    def check_npy(self, name, shape, value):
        expected = oracle(name)
        got = np.load(io.BytesIO(value))
        self.assertEqual((tuple(shape), got.dtype, got.shape), (expected.shape, expected.dtype, expected.shape))
        np.testing.assert_array_equal(got, expected, name)

    def test_arrays_of_every_type_and_cut_in_both_formats(self):
        with self.psycopg() as connection:
            connection.execute("SET result_format = 'array'")
            for binary in (False, True):
                for name in TENSORS:
                    cursor = connection.execute(query(name), binary=binary)
                    names = ["val_re", "val_im"] if np.iscomplexobj(oracle(name)) else ["val"]
                    self.assertEqual([column.name for column in cursor.description], ["shape", *names])
                    rows = cursor.fetchall()
                    self.assertEqual((len(rows), cursor.statusmessage), (1, "SELECT 1"))
                    self.check(name, *rows[0])

    def test_npy_files_of_every_type_and_cut_in_both_formats(self):
        with self.psycopg() as connection:
            connection.execute("SET result_format TO npy")
            for binary in (False, True):
                for name in TENSORS:
                    self.check_npy(name, *connection.execute(query(name), binary=binary).fetchone())

    def test_simple_queries(self):
        with psycopg2.connect(**self.server.arguments()) as connection, connection.cursor() as cursor:
            cursor.execute("SET result_format = 'array'")
            for name in TENSORS:
                cursor.execute(query(name))
                self.check(name, *cursor.fetchone())
            cursor.execute("SET result_format = 'npy'")
            for name in TENSORS:
                cursor.execute(query(name))
                self.check_npy(name, *cursor.fetchone())
        connection.close()

    def test_psql_shows_what_arrays_are(self):
        ran = self.server.psql(text="SET result_format = array;\nEINSUM R[i,j] = N[i,j];\nSHOW result_format;\n"
                                    "RESET result_format;\nEINSUM R[] = S[];\nSHOW result_format;\n")  # fmt: skip
        self.assertEqual(ran.stderr, "")
        elements = ",".join(str(value) for value in oracle("N").ravel())
        self.assertEqual(ran.stdout, f"SET\n{{4,3}}|{{{elements}}}\narray\nRESET\n2.5\nrows\n")

    def test_other_words_are_refused(self):
        ran = self.server.psql("-c", "SET result_format = 'parquet'")
        self.assertIn("result_format cannot be 'parquet'", ran.stderr)
        self.assertIn("'rows', 'array', 'npy'", ran.stderr)

    def test_what_gives_no_tensor_stays_rows(self):
        with self.psycopg() as connection:
            connection.execute("SET result_format = 'array'")
            self.assertEqual(connection.execute("SELECT n FROM t").fetchall(), [(1,), (2,)])
            self.assertEqual(len(connection.execute("SELECT i, j, val FROM N").fetchall()), 12)
            self.assertEqual(connection.execute("SHOW threads").description[0].name, "threads")

    def test_parameters_and_execute_of_prepared_statements(self):
        with self.psycopg() as connection:
            connection.execute("SET result_format = 'array'")
            shape, value = connection.execute("EINSUM R[i] = SUM(N[i,j]) * %s", (2,), binary=True).fetchone()
            self.assertEqual((shape, value), ([4], list(oracle("N").sum(axis=1) * 2)))
            connection.execute("PREPARE p AS EINSUM R[j] = SUM(N[i,j])")
            self.assertEqual(connection.execute("EXECUTE p").fetchone()[1], list(oracle("N").sum(axis=0)))

    def test_asyncpg(self):
        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            await connection.execute("SET result_format = 'array'")
            for name in TENSORS:
                self.check(name, *(await connection.fetchrow(query(name))).values())
            await connection.execute("SET result_format = 'npy'")
            # asyncpg reuses the description of an earlier statement, so the text is changed.
            for name in TENSORS:
                self.check_npy(name, *(await connection.fetchrow(query(name) + " ")).values())
            await connection.close()

        asyncio.run(session())

    def test_what_was_described_is_what_comes(self):
        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            rows = await connection.prepare("EINSUM R[i] = SUM(N[i,j])")
            await connection.execute("SET result_format = 'array'")
            arrays = await connection.prepare("EINSUM R[i]  = SUM(N[i,j])")
            await connection.execute("SET result_format = 'npy'")
            sums = list(oracle("N").sum(axis=1))
            self.assertEqual([tuple(row) for row in await rows.fetch()], list(enumerate(sums)))
            self.assertEqual(tuple(await arrays.fetchrow()), ([4], sums))
            await connection.close()

        asyncio.run(session())

    def test_a_tensor_that_is_another_by_now(self):
        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            await connection.execute("CREATE TENSOR Q AS EINSUM Q[i 3] = i * 0.5")
            rows = await connection.prepare("SELECT * FROM Q")
            await connection.execute("SET result_format = array")
            tensor = await connection.prepare("EINSUM R[i] = Q[i]")
            self.assertEqual(tuple(await tensor.fetchrow()), ([3], [0.0, 0.5, 1.0]))
            await connection.execute("DROP TENSOR Q")
            await connection.execute("CREATE TENSOR Q INT64 AS EINSUM Q[i 3] = i")
            with self.assertRaises(asyncpg.FeatureNotSupportedError) as caught:
                await tensor.fetchrow()
            self.assertIn("must not change result type", str(caught.exception))
            await connection.execute("DROP TENSOR Q")
            await connection.execute("CREATE TENSOR Q AS EINSUM Q[i 3, k 2] = i * 0.5")
            with self.assertRaises(asyncpg.FeatureNotSupportedError):
                await rows.fetch()
            await connection.execute("DROP TENSOR Q")
            await connection.close()

        asyncio.run(session())

    def test_a_limit_of_rows_counts_a_tensor_as_one(self):
        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            await connection.execute("SET result_format = 'array'")
            async with connection.transaction():
                cursor = await connection.cursor(query("L"))
                self.check("L", *(await cursor.fetch(1))[0].values())
                self.assertEqual(await cursor.fetch(1), [])
            await connection.close()

        asyncio.run(session())

    def test_more_than_a_gigabyte_is_refused_before_anything_is_sent(self):
        with self.psycopg() as connection:
            # No tile is stored for these zeros.
            for result_format, binary, extent in (("array", True, 95_000_000), ("array", False, 540_000_000),
                                                  ("npy", True, 135_000_000), ("npy", False, 70_000_000)):  # fmt: skip
                connection.execute(f"SET result_format = '{result_format}'")
                with self.assertRaises(psycopg.errors.ProgramLimitExceeded) as caught:
                    connection.execute(f"EINSUM R[i {extent}] = 0 * i", binary=binary)
                self.assertIn("result_format = 'rows'", caught.exception.diag.message_hint)
            self.assertEqual(connection.execute("SELECT 1").fetchone(), (1,))

    def test_cancelling_what_is_on_its_way(self):
        with self.raw() as client:
            process, secret = struct.unpack("!ii", client.greeting.split(b"K\0\0\0\x0c")[1][:8])
            client.send(b"Q", b"SET result_format = 'npy'; EINSUM R[i 3000, j 3000] = i + j\0")
            size = len(client.connection.recv(1 << 20))
            with self.server.socket() as canceller:
                canceller.sendall(struct.pack("!iiii", 16, 80877102, process, secret))
                canceller.recv(1)
            rest, tail = client.drain()
        # The announced row is complete, and the error follows it.
        self.assertGreater(size + rest, 3000 * 3000 * 8)
        self.assertIn(b"C57014\0", tail)

    def test_the_server_does_not_hold_what_it_sends(self):
        def resident():
            with open(f"/proc/{self.server.process.pid}/status") as status:
                return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

        # The first run allocates the memory that the session keeps.
        text = "EINSUM R[i 3000, j 3000] = i + j"
        with self.psycopg() as connection:
            connection.execute("SET result_format = 'array'")
            connection.execute(text, binary=True)
            before = resident()
            for result_format in ("npy", "array"):
                connection.execute(f"SET result_format = '{result_format}'")
                for binary in (True, False):
                    connection.execute(text, binary=binary)
        # The growth is less than a tenth of the tensor.
        self.assertLess(resident() - before, 7e6)


if __name__ == "__main__":
    unittest.main()
