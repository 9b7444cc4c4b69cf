"""Tests REPEAT for clients: both protocols, progress and notices, cancellation, and permissions.

    loops_test.py EINDB
"""

import unittest

import psycopg
import psycopg2

from served import WithServer

COUNT = "REPEAT 5 AS t { UPDATE TENSOR s[] = s + t; INSERT INTO seen VALUES (:t) }"
# The loop runs longer than any test unless it is cancelled. A round takes some milliseconds.
LONG = "REPEAT 100000 AS t COMMIT EVERY 3 { UPDATE TENSOR s[] = s + 1; UPDATE TENSOR W[i,k] = TANH(SUM(W[i,j] * W[j,k])) }"


class Loops(WithServer):
    script = """
    CREATE TENSOR s INT64 AS EINSUM s[] = 0;
    CREATE TENSOR W AS EINSUM W[i 200, j 200] = i - j;
    CREATE TABLE seen (round INTEGER);
    """

    def setUp(self):
        self.connection = psycopg.connect(**self.server.arguments(), autocommit=True)
        self.addCleanup(self.connection.close)
        self.connection.execute("UPDATE TENSOR s[] = 0")
        self.connection.execute("DELETE FROM seen")

    def number(self, query):
        return self.connection.execute(query).fetchone()[0]

    def check_counted(self):
        self.assertEqual(self.number("EINSUM n[] = s"), 10)
        self.assertEqual(self.number("SELECT COUNT(*) FROM seen"), 5)

    def test_the_extended_protocol(self):
        cursor = self.connection.execute(COUNT)
        self.assertEqual(cursor.statusmessage, "REPEAT 5")
        self.check_counted()
        cursor = self.connection.execute("REPEAT 3 { UPDATE TENSOR s[] = s + %s }", (7,), prepare=True)
        self.assertEqual(self.number("EINSUM n[] = s"), 31)

    def test_the_simple_protocol(self):
        connection = psycopg2.connect(**self.server.arguments())
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT 1; {COUNT}; SELECT 2")
            self.assertEqual(cursor.fetchall(), [(2,)])
        connection.close()
        self.check_counted()

    def test_in_a_transaction_of_the_client(self):
        with psycopg.connect(**self.server.arguments()) as connection:
            connection.execute(COUNT)
            self.assertEqual(self.number("EINSUM n[] = s"), 0)
            connection.rollback()
            self.assertEqual(self.number("EINSUM n[] = s"), 0)
            connection.execute(COUNT)
            connection.commit()
        self.check_counted()

    def test_cancelled_it_keeps_what_is_committed_and_goes_on(self):
        progress, notices = [], []

        def hear(diagnostic):
            (progress if diagnostic.severity == "INFO" else notices).append(diagnostic.message_primary)
            if len(progress) >= 2:
                self.connection.cancel()

        self.connection.add_notice_handler(hear)
        self.connection.execute("SET progress_notices = on")
        with self.assertRaises(psycopg.errors.QueryCanceled):
            self.connection.execute(LONG)
        self.assertTrue(all(text.startswith("round: ") for text in progress), progress)
        self.assertEqual(notices, [])
        first = self.number("EINSUM n[] = s")
        self.assertGreater(first, 0)
        self.assertEqual(first % 3, 0)
        progress.clear()
        with self.assertRaises(psycopg.errors.QueryCanceled):
            self.connection.execute(LONG)
        self.assertRegex(notices[0], f"^the loop goes on after {first} of 100000 rounds")
        self.assertGreater(self.number("EINSUM n[] = s"), first)


if __name__ == "__main__":
    unittest.main()
