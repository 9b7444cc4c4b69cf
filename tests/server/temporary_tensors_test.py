"""Temporary tensors of the server's clients: each has its own, and takes them along when it goes.

    temporary_tensors_test.py EINDB
"""

import unittest

import psycopg
from psycopg import errors

from served import TENSORS, WithServer

USERS = """
CREATE USER root PASSWORD 'r' ADMIN;
CREATE USER ada PASSWORD 'a';
CREATE USER guest PASSWORD 'g' READ ONLY;
CREATE USER eve PASSWORD 'e' RESTRICTED;
"""


class WithClients(WithServer):
    def connect(self, **more):
        connection = psycopg.connect(**self.server.arguments(**more), autocommit=True)
        self.addCleanup(connection.close)
        return connection

    def rows(self, connection, statement):
        return connection.execute(statement).fetchall()


class Sessions(WithClients):
    def test_each_session_has_its_own(self):
        one, two = self.connect(), self.connect()
        one.execute("CREATE TEMP TENSOR mine AS EINSUM Z[i 2] = i")
        two.execute("CREATE TEMP TENSOR mine AS EINSUM Z[i 2] = 10 + i")
        self.assertEqual(self.rows(one, "SELECT * FROM mine"), [(0, 0.0), (1, 1.0)])
        self.assertEqual(self.rows(two, "EINSUM Z[i] = mine[i]"), [(0, 10.0), (1, 11.0)])
        self.assertEqual(self.rows(two, "SELECT * FROM pg_temp.mine WHERE i = 1"), [(1, 11.0)])
        with self.assertRaises(errors.UndefinedTable):
            self.connect().execute("SELECT * FROM mine")

    def test_names_are_free_for_the_next_client(self):
        for value in (1, 2, 3):
            with psycopg.connect(**self.server.arguments(), autocommit=True) as connection:
                connection.execute(f"CREATE TEMP TENSOR again AS EINSUM Z[i 2] = {value}")
                self.assertEqual(self.rows(connection, "SELECT SUM(val) FROM again"), [(2.0 * value,)])

    def test_discard_all_removes_them(self):
        connection = self.connect()
        connection.execute("CREATE TEMP TENSOR gone (i 2)")
        connection.execute("DISCARD ALL")
        with self.assertRaises(errors.UndefinedTable):
            connection.execute("SELECT * FROM gone")
        connection.execute("CREATE TEMP TENSOR gone (i 3)")

    def test_it_hides_a_tensor_from_its_session_alone(self):
        one, two = self.connect(), self.connect()
        one.execute("CREATE TEMP TENSOR X AS EINSUM X[i 2] = 5")
        self.assertEqual(self.rows(one, "SELECT COUNT(*) FROM X"), [(2,)])
        self.assertEqual(self.rows(one, "SELECT COUNT(*) FROM public.X"), [(12,)])
        self.assertEqual(self.rows(one, "EINSUM S[] = SUM(X[i]) + SUM(public.X[a,b])"), [(43.0,)])
        self.assertEqual(self.rows(two, "SELECT COUNT(*) FROM X"), [(12,)])

    def test_a_table_that_another_session_makes_is_hidden_too(self):
        one, two = self.connect(), self.connect()
        one.execute("CREATE TEMP TENSOR hidden AS EINSUM Z[i 2] = 5")
        two.execute("CREATE TABLE hidden (n INTEGER)")
        self.assertEqual(self.rows(one, "SELECT COUNT(*) FROM hidden"), [(2,)])
        self.assertEqual(self.rows(one, "SELECT COUNT(*) FROM public.hidden"), [(0,)])
        one.execute("DROP TENSOR hidden")
        self.assertEqual(self.rows(one, "SELECT COUNT(*) FROM hidden"), [(0,)])

    def test_a_transaction_undoes_them(self):
        connection = self.connect()
        connection.execute("BEGIN")
        connection.execute("CREATE TEMP TENSOR undone (i 2)")
        self.assertEqual(self.rows(connection, "SELECT COUNT(*) FROM undone"), [(2,)])
        connection.execute("ROLLBACK")
        with self.assertRaises(errors.UndefinedTable):
            connection.execute("SELECT * FROM undone")

    def test_transactions_that_read_only_set_values(self):
        connection = self.connect()
        connection.execute("CREATE TEMP TENSOR values (i 2)")
        connection.execute("BEGIN READ ONLY")
        connection.execute("UPDATE TENSOR values[i] = i + 1")
        connection.execute("COMMIT")
        self.assertEqual(self.rows(connection, "SELECT * FROM values"), [(0, 1.0), (1, 2.0)])
        connection.execute("BEGIN READ ONLY")
        with self.assertRaises(errors.ReadOnlySqlTransaction):
            connection.execute("CREATE TEMP TENSOR more (i 2)")
        connection.execute("ROLLBACK")

    def test_rows_come_by_copy(self):
        connection = self.connect()
        connection.execute("CREATE TEMP TENSOR copied (i 3)")
        with connection.cursor() as cursor:
            with cursor.copy("COPY copied FROM STDIN") as copy:
                copy.write("0\t1.5\n2\t2.5\n")
            with cursor.copy("COPY copied TO STDOUT") as copy:
                lines = b"".join(copy).decode().split("\n")
        self.assertEqual(lines, ["0\t1.5", "1\t0", "2\t2.5", ""])

    def test_psql_describes_them(self):
        shown = self.server.psql(text="CREATE TEMP TENSOR seen (i 3, j 4) INT64;\n\\d\n\\d seen\nSELECT indexdef FROM pg_indexes;\n").stdout
        self.assertIn("pg_temp|seen|table", shown)
        self.assertIn("val|bigint", shown)
        self.assertIn("ON pg_temp.seen USING tiles (i, j) WITH (type='INT64', extents='3,4'", shown)
        self.assertNotIn("seen", self.server.psql(text="\\d\n").stdout)


class Roles(WithClients):
    script = TENSORS + USERS

    def test_users_who_only_read_have_them(self):
        connection = self.connect(user="guest", password="g")
        connection.execute("CREATE TEMP TENSOR mine AS EINSUM Z[i] = SUM(X[i,j])")
        connection.execute("UPDATE TENSOR mine[i] = mine[i] + 1")
        self.assertEqual(self.rows(connection, "SELECT * FROM mine"), [(0, 4.0), (1, 12.0), (2, 20.0)])
        with self.assertRaises(errors.ReadOnlySqlTransaction):
            connection.execute("CREATE TENSOR ours (i 2)")

    def test_restricted_users_have_them_and_no_more_rights(self):
        connection = self.connect(user="eve", password="e")
        connection.execute("CREATE TEMP TENSOR mine AS EINSUM Z[i 3] = i")
        connection.execute("UPDATE TENSOR mine[i] = mine[i] + 1")
        connection.execute("INSERT INTO TENSOR mine VALUES (0, 9)")
        connection.execute("ALTER TENSOR mine RENAME TO own")
        self.assertEqual(self.rows(connection, "EINSUM Z[i] = own[i]"), [(0, 9.0), (1, 2.0), (2, 3.0)])
        self.assertEqual(self.rows(connection, "SELECT * FROM own"), [(0, 9.0), (1, 2.0), (2, 3.0)])
        for statement in (
            "CREATE TENSOR ours (i 2)",
            "DROP TENSOR X",
            "UPDATE TENSOR X[i,j] = 0",
            "EINSUM Z[i] = own[i] * X[i,0]",
            "CREATE TEMP TENSOR stolen AS EINSUM Z[i,j] = X[i,j]",
        ):
            with self.assertRaises(errors.InsufficientPrivilege, msg=statement):
                connection.execute(statement)
        # A name of the own session gives no right to what it hides.
        connection.execute("CREATE TEMP TENSOR X AS EINSUM X[i 2] = i")
        self.assertEqual(self.rows(connection, "EINSUM S[] = SUM(X[i])"), [(1.0,)])
        for statement in ("EINSUM S[] = SUM(main.X[i,j])", "SELECT * FROM public.X", "DROP TENSOR main.X"):
            with self.assertRaises(errors.InsufficientPrivilege, msg=statement):
                connection.execute(statement)
        connection.execute("DROP TENSOR X, own")


if __name__ == "__main__":
    unittest.main()
