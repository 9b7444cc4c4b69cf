"""Cursors of the server's clients: DECLARE, FETCH, MOVE and CLOSE, and what drivers make of them.

    cursors_test.py EINDB
"""

import asyncio
import time
import unittest

import asyncpg
import psycopg
import psycopg2

from served import TENSORS, WithServer

ROWS = """
CREATE TABLE numbers (n INTEGER);
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10) INSERT INTO numbers SELECT x FROM c;
"""


class WithConnection(WithServer):
    script = TENSORS + ROWS

    def setUp(self):
        self.connection = psycopg.connect(**self.server.arguments(), autocommit=True)
        self.execute = self.connection.execute

    def tearDown(self):
        self.connection.close()

    def refused(self, sqlstate, statement):
        with self.assertRaises(psycopg.Error) as caught:
            self.execute(statement)
        self.assertEqual(caught.exception.sqlstate, sqlstate, f"{statement}: {caught.exception}")
        return str(caught.exception)

    def fetch(self, what):
        return [n for (n,) in self.execute(f"FETCH {what}")]

    def moved(self, what):
        return self.execute(f"MOVE {what}").statusmessage


class Cursors(WithConnection):
    def test_rows_come_in_portions(self):
        self.execute("BEGIN")
        declared = self.execute("DECLARE c CURSOR FOR SELECT n FROM numbers ORDER BY n")
        self.assertEqual(declared.statusmessage, "DECLARE CURSOR")
        self.assertEqual(self.fetch("c"), [1])
        self.assertEqual(self.fetch("NEXT FROM c"), [2])
        self.assertEqual(self.fetch("2 IN c"), [3, 4])
        self.assertEqual(self.moved("FORWARD 2 FROM c"), "MOVE 2")
        self.assertEqual(self.fetch("FORWARD c"), [7])
        self.assertEqual(self.execute("FETCH FORWARD ALL FROM c").statusmessage, "FETCH 3")
        self.assertEqual(self.fetch("ALL FROM c"), [])
        self.assertEqual(self.fetch("c"), [])
        self.assertEqual(self.moved("c"), "MOVE 0")
        self.assertEqual(self.execute("CLOSE c").statusmessage, "CLOSE CURSOR")
        self.refused("34000", "FETCH c")
        self.execute("ROLLBACK")

    def test_columns_have_types_and_names(self):
        self.execute("BEGIN")
        self.execute("DECLARE c CURSOR FOR EINSUM Z[i] = C[i]")
        for binary in (False, True):
            found = self.execute("FETCH 1 FROM c", binary=binary)
            self.assertEqual([column.name for column in found.description], ["i", "val_re", "val_im"])
            self.assertEqual(found.fetchall(), [(int(binary), float(binary), 1.0)])
        self.execute("ROLLBACK")

    def test_scrolling(self):
        self.execute("BEGIN")
        self.execute("DECLARE c SCROLL CURSOR FOR SELECT n FROM numbers ORDER BY n")
        for what, rows in (
            ("5 FROM c", [1, 2, 3, 4, 5]),
            ("PRIOR FROM c", [4]),
            ("BACKWARD 2 FROM c", [3, 2]),
            ("0 FROM c", [2]),
            ("RELATIVE 0 FROM c", [2]),
            ("RELATIVE 3 FROM c", [5]),
            ("RELATIVE -2 FROM c", [3]),
            ("-2 FROM c", [2, 1]),
            ("BACKWARD c", []),
            ("PRIOR c", []),
            ("c", [1]),
            ("LAST FROM c", [10]),
            ("c", []),
            ("PRIOR c", [10]),
            ("FIRST c", [1]),
            ("ABSOLUTE 7 c", [7]),
            ("ABSOLUTE -3 c", [8]),
            ("ABSOLUTE 0 c", []),
            ("FORWARD 2 c", [1, 2]),
            ("ABSOLUTE 99 c", []),
            ("BACKWARD ALL c", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
            ("FORWARD -1 c", []),
            ("BACKWARD -2 c", [1, 2]),
            ("ABSOLUTE -99 c", []),
            ("c", [1]),
            ("RELATIVE 99 c", []),
            ("RELATIVE -1 c", [10]),
        ):
            with self.subTest(what):
                self.assertEqual(self.fetch(what), rows)
        self.assertEqual(self.moved("BACKWARD 3 IN c"), "MOVE 3")
        self.assertEqual(self.moved("BACKWARD ALL IN c"), "MOVE 6")
        self.assertEqual(self.moved("LAST IN c"), "MOVE 1")
        self.execute("ROLLBACK")

    def test_without_scroll_it_only_goes_forward(self):
        for words in ("CURSOR", "NO SCROLL CURSOR", "INSENSITIVE CURSOR WITHOUT HOLD"):
            self.execute("BEGIN")
            self.execute(f"DECLARE c {words} FOR SELECT n FROM numbers ORDER BY n")
            self.assertEqual((self.fetch("0 FROM c"), self.moved("BACKWARD ALL FROM c")), ([], "MOVE 0"))
            self.assertEqual(self.fetch("ABSOLUTE 3 c"), [3])
            self.assertEqual(self.fetch("RELATIVE 2 c"), [5])
            self.assertEqual((self.moved("0 FROM c"), self.moved("RELATIVE 0 FROM c")), ("MOVE 1", "MOVE 1"))
            self.execute("SAVEPOINT a")
            for what in ("PRIOR", "FIRST", "LAST", "BACKWARD 2", "BACKWARD ALL", "ABSOLUTE 5", "ABSOLUTE -1", "RELATIVE -1",
                         "-1", "0"):  # fmt: skip
                with self.subTest(what):
                    self.assertIn("SCROLL", self.refused("55000", f"FETCH {what} FROM c"))
                    self.execute("ROLLBACK TO a")
            self.assertEqual(self.fetch("2 FROM c"), [6, 7])
            self.execute("ROLLBACK")

    def test_errors_have_the_codes_of_postgres(self):
        self.refused("25P01", "DECLARE c CURSOR FOR SELECT 1")
        for statement in ("FETCH c", "MOVE c", "CLOSE c"):
            self.refused("34000", statement)
        self.execute("BEGIN")
        self.execute("DECLARE c CURSOR FOR SELECT 1")
        self.execute("SAVEPOINT a")
        self.refused("42P03", "DECLARE c CURSOR FOR SELECT 2")
        for code, statement in (
            ("42601", "DECLARE d CURSOR FOR INSERT INTO numbers VALUES (11)"),
            ("42601", "DECLARE d CURSOR FOR UPDATE TENSOR X[i,j] = 1"),
            ("42601", "DECLARE d CURSOR FOR"),
            ("42601", "DECLARE d CURSOR SELECT 1"),
            ("42P01", "DECLARE d CURSOR FOR EINSUM d[i] = nowhere[i]"),
            ("42601", "FETCH SIDEWAYS FROM c"),
            ("42601", "FETCH ABSOLUTE FROM c"),
            ("34000", "FETCH d"),
            ("34000", 'FETCH "C"'),
        ):
            with self.subTest(statement):
                self.execute("ROLLBACK TO a")
                self.refused(code, statement)
        self.refused("25P02", "FETCH c")
        self.execute("ROLLBACK TO a")
        self.assertEqual(self.fetch("c"), [1])
        self.execute("ROLLBACK")
        message = self.server.psql("-c", "BEGIN; DECLARE c CURSOR FOR SELECT n, nope FROM numbers").stderr
        self.assertIn("LINE 1: BEGIN; DECLARE c CURSOR FOR SELECT n, nope FROM numbers\n", message)

    def test_they_end_with_their_transaction(self):
        for end in ("COMMIT", "ROLLBACK"):
            self.execute("BEGIN")
            self.execute("DECLARE c CURSOR FOR SELECT n FROM numbers")
            self.execute(end)
            self.refused("34000", "FETCH c")
        self.execute("BEGIN")
        self.execute("DECLARE a CURSOR FOR SELECT n FROM numbers ORDER BY n")
        self.assertEqual(self.fetch("a"), [1])
        self.execute("SAVEPOINT s")
        self.execute("DECLARE b CURSOR FOR SELECT n FROM numbers")
        self.assertEqual(self.fetch("a"), [2])
        self.execute("ROLLBACK TO s")
        self.assertEqual(self.fetch("a"), [3])
        self.refused("34000", "FETCH b")
        self.execute("ROLLBACK")

    def test_they_do_not_see_later_changes(self):
        self.execute("BEGIN")
        self.execute("DECLARE a CURSOR FOR SELECT n FROM numbers ORDER BY n")
        self.execute("DECLARE b SCROLL CURSOR FOR SELECT n FROM numbers ORDER BY n")
        self.execute("DECLARE x CURSOR FOR SELECT SUM(val) FROM X GROUP BY i ORDER BY i")
        self.execute("DECLARE z CURSOR FOR EINSUM Z[i] = SUM(X[i,j])")
        self.assertEqual((self.fetch("2 FROM a"), self.fetch("3 FROM b")), ([1, 2], [1, 2, 3]))
        self.assertEqual(self.fetch("x"), [3.0])
        self.execute("UPDATE numbers SET n = n + 100")
        self.execute("INSERT INTO numbers VALUES (3), (999)")
        self.execute("UPDATE TENSOR X[i,j] = 0")
        self.assertEqual(self.fetch("ALL FROM a"), [3, 4, 5, 6, 7, 8, 9, 10])
        self.execute("DROP TABLE numbers")
        self.assertEqual(self.fetch("BACKWARD ALL FROM b"), [2, 1])
        self.assertEqual(self.fetch("ALL FROM b"), list(range(1, 11)))
        self.assertEqual(self.fetch("ALL FROM x"), [11.0, 19.0])
        self.assertEqual(self.execute("FETCH ALL FROM z").fetchall(), [(0, 3.0), (1, 11.0), (2, 19.0)])
        self.execute("ROLLBACK")

    def test_with_hold_they_outlive_it(self):
        self.execute("DECLARE a CURSOR WITH HOLD FOR SELECT n FROM numbers ORDER BY n")
        self.assertEqual(self.fetch("2 FROM a"), [1, 2])
        self.execute("BEGIN")
        self.execute("DECLARE b SCROLL CURSOR WITH HOLD FOR SELECT n FROM numbers ORDER BY n")
        self.execute("DECLARE z CURSOR WITH HOLD FOR EINSUM Z[i] = SUM(X[i,j])")
        self.assertEqual(self.fetch("3 FROM b"), [1, 2, 3])
        self.execute("COMMIT")
        self.execute("INSERT INTO numbers VALUES (11)")
        self.assertEqual(self.fetch("2 FROM a"), [3, 4])
        self.assertEqual(self.fetch("BACKWARD 2 FROM b"), [2, 1])
        self.assertEqual(self.fetch("ALL FROM b"), list(range(2, 11)))
        self.assertEqual(self.execute("FETCH 2 FROM z").fetchall(), [(0, 3.0), (1, 11.0)])
        self.execute("BEGIN")
        self.execute("DECLARE d CURSOR WITH HOLD FOR SELECT 1")
        self.execute("ROLLBACK")
        self.refused("34000", "FETCH d")
        self.assertEqual(self.fetch("a"), [5])
        self.execute("CLOSE z")
        self.refused("34000", "FETCH z")
        self.assertEqual(self.execute("CLOSE ALL").statusmessage, "CLOSE CURSOR ALL")
        self.refused("34000", "FETCH a")
        self.execute("DELETE FROM numbers WHERE n = 11")

    def test_what_a_rollback_undoes_was_read_before(self):
        self.execute("BEGIN")
        self.execute("DECLARE a CURSOR FOR SELECT n FROM numbers ORDER BY n")
        self.execute("SAVEPOINT s")
        self.execute("DELETE FROM numbers")
        self.execute("CREATE TABLE more (n INTEGER)")
        self.execute("ROLLBACK TO s")
        self.assertEqual(self.fetch("ALL FROM a"), list(range(1, 11)))
        self.execute("ROLLBACK")

    def test_pg_cursors_lists_them(self):
        self.execute("BEGIN")
        self.execute("DECLARE a BINARY SCROLL CURSOR FOR SELECT 1")
        self.execute("DECLARE b CURSOR WITH HOLD FOR SELECT 2")
        listed = "SELECT name, is_holdable, is_binary, is_scrollable FROM pg_catalog.pg_cursors ORDER BY name"
        self.assertEqual(self.execute(listed).fetchall(), [("a", False, True, True), ("b", True, False, False)])
        self.execute("CLOSE ALL")
        self.assertEqual(self.execute(listed).fetchall(), [])
        self.execute("ROLLBACK")

    def test_parameters_of_a_declaration(self):
        with self.connection.transaction():
            self.execute("DECLARE c CURSOR FOR SELECT n FROM numbers WHERE n > %s AND n < %s ORDER BY n", (3, 7))
            self.assertEqual(self.fetch("ALL FROM c"), [4, 5, 6])

    def test_each_fetch_has_its_own_time(self):
        self.execute("SET statement_timeout = 1500")
        self.execute("BEGIN")
        self.execute("DECLARE c CURSOR FOR WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c")
        self.execute("DECLARE d CURSOR WITH HOLD FOR SELECT n FROM numbers ORDER BY n")
        for n in (1, 2):
            time.sleep(1.6)
            self.assertEqual(self.fetch("c"), [n])
        self.execute("SAVEPOINT a")
        self.refused("57014", "MOVE ALL FROM c")
        self.execute("ROLLBACK TO a")
        self.refused("55000", "FETCH c")
        self.execute("ROLLBACK TO a")
        self.execute("CLOSE c")
        time.sleep(1.6)
        self.execute("DELETE FROM numbers")
        self.execute("ROLLBACK TO a")
        time.sleep(1.6)
        self.execute("COMMIT")
        self.assertEqual(self.fetch("ALL FROM d"), list(range(1, 11)))

    def test_large_results_are_not_held(self):
        self.execute("SET result_format = 'array'")
        self.execute("BEGIN")
        self.execute("SAVEPOINT a")
        self.refused("0A000", "DECLARE z CURSOR FOR EINSUM Z[i] = SUM(X[i,j])")
        self.execute("ROLLBACK TO a")
        self.execute("DECLARE c CURSOR FOR WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c")
        self.assertEqual(self.fetch("3 FROM c"), [1, 2, 3])
        self.assertEqual(self.moved("20000 FROM c"), "MOVE 20000")
        self.assertEqual(self.fetch("c"), [20004])
        self.execute("ROLLBACK")


class ScarceMemory(WithConnection):
    options = ("--memory-limit", "512MB")

    def test_rows_without_end_are_refused_where_they_would_be_kept(self):
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, zeroblob(1000000) FROM c"
        self.execute("BEGIN")
        self.execute(f"DECLARE c CURSOR WITH HOLD FOR {endless}")
        with self.assertRaises(psycopg.Error) as caught:
            self.execute("COMMIT")
        self.assertIn(caught.exception.sqlstate, ("53200", "53400"))
        self.assertEqual(self.connection.info.transaction_status.name, "IDLE")
        self.refused("34000", "FETCH c")
        self.execute("BEGIN")
        self.execute(f"DECLARE c CURSOR FOR {endless}")
        self.execute("SAVEPOINT a")
        with self.assertRaises(psycopg.Error) as caught:
            self.execute("INSERT INTO numbers VALUES (11)")
        self.assertIn(caught.exception.sqlstate, ("53200", "53400"))
        self.execute("ROLLBACK TO a")
        self.assertEqual([x for (x, _) in self.execute("FETCH 3 FROM c")], [1, 2, 3])
        self.execute("CLOSE c")
        self.execute("INSERT INTO numbers VALUES (11)")
        self.execute("ROLLBACK")


class Drivers(WithConnection):
    def test_named_cursors_of_psycopg2(self):
        connection = psycopg2.connect(**self.server.arguments())
        with connection.cursor(name="few") as cursor:
            cursor.itersize = 3
            cursor.execute("SELECT n FROM numbers WHERE n > %s ORDER BY n", (2,))
            self.assertEqual(cursor.fetchone(), (3,))
            self.assertEqual(cursor.fetchmany(2), [(4,), (5,)])
            self.assertEqual([n for (n,) in cursor], [6, 7, 8, 9, 10])
        with connection.cursor(name="back", scrollable=True) as cursor:
            cursor.execute("SELECT n FROM numbers ORDER BY n")
            cursor.scroll(5)
            self.assertEqual(cursor.fetchone(), (6,))
            cursor.scroll(-3)
            self.assertEqual(cursor.fetchone(), (4,))
            cursor.scroll(1, mode="absolute")
            self.assertEqual(cursor.fetchall(), [(n,) for n in range(2, 11)])
        with connection.cursor(name="unused"):
            pass
        held = connection.cursor(name="Held", withhold=True)
        held.execute("SELECT n FROM numbers ORDER BY n")
        self.assertEqual(held.fetchone(), (1,))
        connection.commit()
        self.assertEqual(held.fetchall(), [(n,) for n in range(2, 11)])
        held.close()
        connection.close()

    def test_server_cursors_of_psycopg3(self):
        with psycopg.connect(**self.server.arguments()) as connection:
            for binary in (False, True):
                with connection.cursor(name="few") as cursor:
                    cursor.itersize = 3
                    cursor.execute("SELECT n FROM numbers WHERE n > %s ORDER BY n", (2,), binary=binary)
                    self.assertEqual([column.name for column in cursor.description], ["n"])
                    self.assertEqual(cursor.fetchmany(2), [(3,), (4,)])
                    self.assertEqual([n for (n,) in cursor], [5, 6, 7, 8, 9, 10])
            with connection.cursor(name="back", scrollable=True) as cursor:
                cursor.execute("SELECT n FROM numbers ORDER BY n")
                cursor.scroll(5)
                self.assertEqual(cursor.fetchone(), (6,))
                cursor.scroll(-3)
                self.assertEqual(cursor.fetchone(), (4,))
                cursor.scroll(0, mode="absolute")
                self.assertEqual(len(cursor.fetchall()), 10)
            held = connection.cursor(name="held", withhold=True)
            held.execute("EINSUM Z[i] = SUM(X[i,j])")
            connection.commit()
            self.assertEqual(held.fetchall(), [(0, 3.0), (1, 11.0), (2, 19.0)])
            held.close()
            connection.cursor(name="unused").close()

    def test_portals_do_not_see_later_changes(self):
        async def session():
            connection = await asyncpg.connect(host="127.0.0.1", port=self.server.port, user="ada", database="s")
            transaction = connection.transaction()
            await transaction.start()
            seen = []
            async for row in connection.cursor("SELECT n FROM numbers ORDER BY n", prefetch=2):
                seen.append(row["n"])
                await connection.execute("INSERT INTO numbers VALUES ($1)", 100 + row["n"])
                await connection.execute("UPDATE numbers SET n = n + 1000 WHERE n = $1", row["n"] + 3)
            self.assertEqual(seen, list(range(1, 11)))
            await transaction.rollback()
            await connection.close()

        asyncio.run(session())

    def test_portions_of_psql(self):
        for arguments in ((), ("-c", "BEGIN")):
            ran = self.server.psql(*arguments, "-v", "FETCH_COUNT=3", "-c", "SELECT n FROM numbers ORDER BY n")
            numbers = "".join(f"{n}\n" for n in range(1, 11))
            self.assertEqual((ran.stdout.removeprefix("BEGIN\n"), ran.stderr), (numbers, ""))

    def test_binary_cursors(self):
        ran = self.server.psql(text="BEGIN;\nDECLARE c BINARY CURSOR FOR SELECT 'x' AS a;\nFETCH c;\n")
        self.assertEqual(ran.stdout, "BEGIN\nDECLARE CURSOR\nx\n")
        self.execute("BEGIN")
        self.execute("DECLARE c BINARY CURSOR FOR SELECT n FROM numbers ORDER BY n")
        found = self.connection.pgconn.exec_(b"FETCH 2 FROM c")
        self.assertEqual([(found.fformat(0), found.get_value(row, 0)) for row in (0, 1)],
                         [(1, (1).to_bytes(8, "big")), (1, (2).to_bytes(8, "big"))])  # fmt: skip
        self.execute("ROLLBACK")


if __name__ == "__main__":
    unittest.main()
