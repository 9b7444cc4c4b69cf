#!/usr/bin/python3
"""data_test.py EINDB: opens the databases that earlier releases have made, and finds in them what they have recorded."""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import psycopg2

FOLDER = Path(__file__).resolve().parent
EINDB = os.path.abspath(sys.argv.pop())
FILES = sorted(FOLDER.glob("eindb-*.json"))


def holds(new, old):
    """Whether rows are those that were recorded; later releases may have more columns."""
    return len(new) == len(old) and all(
        json.dumps({column: row.get(column) for column in known}) == json.dumps(known) for row, known in zip(new, old)
    )


class EarlierReleases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def unpacked(self, recorded):
        database = self.folder / recorded.stem
        database.write_bytes(gzip.decompress(recorded.with_suffix(".db.gz").read_bytes()))
        return database

    def rows(self, database, statement, *options):
        done = subprocess.run([EINDB, "--json", *options, database, "-c", statement], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{statement}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout else []

    def each(self):
        self.assertGreater(len(FILES), 0)
        for recorded in FILES:
            yield self.unpacked(recorded), json.loads(recorded.read_text())

    def check(self, database, known, *options):
        self.assertGreater(len(known["facts"]), 30)
        for statement, old in known["facts"]:
            new = self.rows(database, statement, *options)
            self.assertTrue(holds(new, old), f"{database.name}: {statement}: {new} instead of {old}")

    def test_they_hold_what_was_recorded(self):
        for database, known in self.each():
            before = database.read_bytes()
            self.check(database, known, "--readonly")
            self.assertEqual(database.read_bytes(), before)
            self.check(database, known)

    def test_they_are_written_to(self):
        for database, known in self.each():
            self.rows(database, "UPDATE TENSOR whole[i,j] = whole[i,j] + 1; DROP TENSOR byte")
            self.rows(database, "INSERT INTO TENSOR readings AT (time) VALUES (0, 3, 8)")
            self.rows(database, "CREATE TENSOR more AS EINSUM more[city] = SUM(Revenue[city,day])")
            self.assertEqual(self.rows(database, "SELECT SUM(val) AS s FROM whole")[0]["s"], 136.5)
            self.assertEqual(self.rows(database, "SELECT MAX(time) AS t FROM readings")[0]["t"], 4)
            self.assertEqual([row["val"] for row in self.rows(database, "SELECT * FROM more")], [2.0, 12.0])
            # What the statements did not touch is as it was.
            for statement, old in known["facts"]:
                if not any(word in statement for word in ("SHOW TENSORS", "sqlite_schema", "whole", "readings", "byte")):
                    self.assertTrue(holds(self.rows(database, statement), old), statement)

    def test_a_copy_is_the_same(self):
        for database, known in self.each():
            self.rows(database, f"BACKUP TO '{self.folder / 'copy.db'}'")
            self.check(self.folder / "copy.db", known)
            (self.folder / "copy.db").unlink()

    def test_users_log_in_with_their_passwords(self):
        for database, known in self.each():
            with subprocess.Popen([EINDB, "serve", database, "--listen", "127.0.0.1:0", "--log-level", "off"],
                                  stdout=subprocess.PIPE, text=True) as server:  # fmt: skip
                try:
                    port = server.stdout.readline().split()[-1]
                    login = {"host": "127.0.0.1", "port": port, "dbname": "eindb"}
                    with self.assertRaises(psycopg2.OperationalError):
                        psycopg2.connect(user="ada", password="another", **login)
                    ada = psycopg2.connect(user="ada", password=known["password"], **login)
                    guest = psycopg2.connect(user="guest", password="x", **login)
                    for connection in (ada, guest):
                        connection.autocommit = True
                    cursor = guest.cursor()
                    cursor.execute("SELECT val FROM whole WHERE i = 1 AND j = 2")
                    self.assertEqual(cursor.fetchall(), [(10.5,)])
                    with self.assertRaises(psycopg2.Error):
                        cursor.execute("SELECT val FROM single")
                    cursor = ada.cursor()
                    cursor.execute("SELECT COUNT(*) FROM single")
                    self.assertEqual(cursor.fetchall(), [(5,)])
                    ada.close()
                    guest.close()
                finally:
                    server.terminate()


if __name__ == "__main__":
    unittest.main()
