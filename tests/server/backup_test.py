"""BACKUP TO copies the database in one state, while clients write."""

import os
import subprocess
import tempfile
import threading
import unittest

import psycopg

from served import EINDB, Server
from waiting import HANG_SECONDS

SCRIPT = """
CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER);
CREATE TABLE b (id INTEGER PRIMARY KEY, n INTEGER);
CREATE TENSOR X AS EINSUM X[i 300, j 300] = 1;
INSERT INTO a VALUES (0, 0);
INSERT INTO b VALUES (0, 0);
"""
USERS = "CREATE USER root PASSWORD 'secret-root' ADMIN; CREATE USER ann PASSWORD 'secret-ann';"


def shell(database, statement):
    return subprocess.run([EINDB, "--csv", "--noheader", database, "-c", statement], text=True, capture_output=True, timeout=HANG_SECONDS)


class Backup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def server(self, script=SCRIPT, *options):
        server = Server(script, ("--files-dir", self.folder.name, *options))
        self.addCleanup(server.close)
        return server

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_beside_writers(self):
        server = self.server()
        end = threading.Event()
        failures = []

        def write(n):
            try:
                with psycopg.connect(**server.arguments(), autocommit=True) as connection:
                    k = n
                    while not end.is_set():
                        k += 2
                        try:
                            with connection.transaction():
                                connection.execute("INSERT INTO a VALUES (%s, %s)", (k, k))
                                connection.execute("UPDATE TENSOR X[i,j] = X[i,j] + 1")
                                connection.execute("INSERT INTO b VALUES (%s, %s)", (k, k))
                        except (psycopg.errors.SerializationFailure, psycopg.errors.LockNotAvailable):
                            pass  # another one was first
            except psycopg.Error as error:
                failures.append(error)

        writers = [threading.Thread(target=write, args=(n,)) for n in (1, 2)]
        for writer in writers:
            writer.start()
        counts = []
        try:
            with psycopg.connect(**server.arguments(), autocommit=True) as connection:
                for n in range(5):
                    self.assertEqual(connection.execute(f"BACKUP TO 'copy{n}.db'").statusmessage, "BACKUP")
                    counts.append(connection.execute("SELECT COUNT(*) FROM a").fetchone()[0])
        finally:
            end.set()
            for writer in writers:
                writer.join()
        self.assertEqual(failures, [])
        before = 0
        for n in range(5):
            copy = self.path(f"copy{n}.db")
            out = shell(copy, "SELECT (SELECT COUNT(*) FROM a), (SELECT COUNT(*) FROM b), (SELECT COUNT(*) FROM a JOIN b USING (id)),"
                              " (SELECT CAST(MIN(val) AS INTEGER) FROM X), (SELECT CAST(MAX(val) AS INTEGER) FROM X)")  # fmt: skip
            self.assertEqual(out.returncode, 0, out.stderr)
            rows = [int(part) for part in out.stdout.strip().split(",")]
            self.assertEqual(len(set(rows)), 1, rows)  # one state: as many rows as updates of each cell
            self.assertGreaterEqual(rows[0], before)
            self.assertLessEqual(rows[0], counts[n])
            before = rows[0]
            self.assertEqual(shell(copy, "PRAGMA integrity_check").stdout.strip(), "ok")

    def test_restored_by_taking_its_place(self):
        server = self.server()
        with psycopg.connect(**server.arguments(), autocommit=True) as connection:
            connection.execute("BACKUP TO 'copy.db'")
        command = [EINDB, "serve", self.path("copy.db"), "--listen", "127.0.0.1:0", "--log-level", "warning"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            port = int(process.stdout.readline().split()[-1])
            with psycopg.connect(**server.arguments(port=port), autocommit=True) as connection:
                self.assertEqual(connection.execute("SELECT SUM(val) FROM X").fetchone(), (90000.0,))
                connection.execute("INSERT INTO a VALUES (7, 7)")
        finally:
            process.terminate()
            process.wait(HANG_SECONDS)
            process.stdout.close()

    def test_refusals(self):
        server = self.server()
        with psycopg.connect(**server.arguments(), autocommit=True) as connection:
            connection.execute("BACKUP TO 'copy.db'")
            size = os.path.getsize(self.path("copy.db"))
            for statement, message in (("BACKUP TO 'copy.db'", "exists already"), ("BACKUP TO '../copy.db'", "leads outside|outside|\\.\\."),
                                       ("BACKUP TO 'no/copy.db'", "no"), ("BACKUP 'x.db'", "expected TO"), ("BACKUP TO copy", "plain quotes")):  # fmt: skip
                with self.subTest(statement), self.assertRaisesRegex(psycopg.Error, message):
                    connection.execute(statement)
            with self.assertRaises(psycopg.errors.ActiveSqlTransaction), connection.transaction():
                connection.execute("BACKUP TO 'other.db'")
        self.assertEqual(os.listdir(self.folder.name), ["copy.db"])
        self.assertEqual(os.path.getsize(self.path("copy.db")), size)
        plain = Server(SCRIPT)
        self.addCleanup(plain.close)
        with psycopg.connect(**plain.arguments(), autocommit=True) as connection:
            with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                connection.execute("BACKUP TO 'copy.db'")

    def test_only_for_admins(self):
        server = self.server(SCRIPT + USERS)
        with psycopg.connect(**server.arguments(user="ann", password="secret-ann"), autocommit=True) as connection:
            with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                connection.execute("BACKUP TO 'copy.db'")
        with psycopg.connect(**server.arguments(user="root", password="secret-root"), autocommit=True) as connection:
            connection.execute("BACKUP TO 'copy.db'")
        self.assertEqual(shell(self.path("copy.db"), "SHOW USERS").stdout.count("\n"), 2)

    def test_in_the_shell(self):
        path = self.path("copy.db")
        out = shell(":memory:", f"CREATE TABLE t AS SELECT 5 AS n; BACKUP TO '{path}'")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(shell(path, "SELECT n FROM t").stdout.strip(), "5")


if __name__ == "__main__":
    unittest.main()
