"""Types of parameters and columns, as clients of all kinds see them: NULL, computed columns, values that do not fit.

    types_test.py EINDB
"""

import asyncio
import unittest

import asyncpg
import psycopg
import psycopg2

from served import TENSORS, WithServer

SCRIPT = TENSORS + """
CREATE TABLE loose (n INTEGER, x REAL, flag BOOLEAN, bytes BLOB, price DECIMAL(10, 2));
INSERT INTO loose VALUES (1, 1.5, 1, x'00ff', 2.25), (NULL, NULL, NULL, NULL, NULL);
CREATE TABLE odd (n INTEGER);
INSERT INTO odd VALUES (1), ('no number');
"""


class Null(WithServer):
    def test_psycopg2(self):
        connection = psycopg2.connect(**self.server.arguments())
        cursor = connection.cursor()
        cursor.execute("INSERT INTO t VALUES (%s, %s)", (None, None))
        cursor.execute("SELECT * FROM t WHERE name IS NULL")
        self.assertEqual(cursor.fetchall(), [(None, None)])
        connection.close()

    def test_psycopg3(self):
        with psycopg.connect(**self.server.arguments()) as connection:
            for binary in (False, True):
                row = connection.execute("SELECT COALESCE(%s, 'none'), %s::int8", (None, None), binary=binary).fetchone()
                self.assertEqual(row, ("none", None))
            with self.assertRaises(psycopg.errors.NullValueNotAllowed):
                connection.execute("EINSUM Z[i] = SUM(X[i,j]) * %s", (None,))

    def test_asyncpg(self):
        async def session(connection):
            self.assertIsNone(await connection.fetchval("SELECT n FROM t WHERE name = $1", None))
            await connection.execute("INSERT INTO t VALUES ($1, $2)", None, 7)
            self.assertEqual(await connection.fetchval("SELECT n FROM t WHERE name IS NULL"), 7)
            await connection.execute("DELETE FROM t WHERE name IS NULL")
            with self.assertRaises(asyncpg.exceptions.NullValueNotAllowedError):
                await connection.fetch("EINSUM Z[i] = SUM(X[i,j]) * $1", None)

        run(self, session)


def run(test, session):
    async def connected():
        connection = await asyncpg.connect(host="127.0.0.1", port=test.server.port, user="ada", database="s")
        try:
            await session(connection)
        finally:
            await connection.close()

    asyncio.run(connected())


if __name__ == "__main__":
    unittest.main(verbosity=1)
