"""What the tests of the extension share: connections of Python's sqlite3 that have loaded it, and scratch files."""
import os
import shutil
import sqlite3
import tempfile
import unittest


class Extension(unittest.TestCase):
    path = ""  # of the extension, without .so

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = os.path.join(self.folder, "my.db")

    def connect(self, file=None, **options):
        """A connection in autocommit mode, which is closed after the test."""
        db = connect(file or self.file, **options)
        self.addCleanup(db.close)
        return db

    def assert_fails(self, db, words, statement, *values):
        """The statement fails with an error that has the words, and the connection goes on."""
        with self.assertRaises(sqlite3.Error) as caught:
            db.execute(statement, values).fetchall()
        self.assertIn(words, str(caught.exception))
        self.assertEqual(db.execute("SELECT 1").fetchall(), [(1,)])
        return str(caught.exception)


def connect(file, **options):
    db = sqlite3.connect(file, isolation_level=None, **options)
    db.enable_load_extension(True)
    db.load_extension(Extension.path)
    return db


def value(db, statement, *values):
    """The one value of the first row."""
    return db.execute(statement, values).fetchone()[0]


def run(db, statement, *values):
    """The status of a statement of eindb's."""
    places = "".join(", ?" for _ in values)
    return value(db, f"SELECT eindb_exec(?{places})", statement, *values)
