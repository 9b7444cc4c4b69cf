"""PostgreSQL's ODBC driver through pyodbc: spreadsheets, statistics programs and reporting tools use it."""

import datetime
import glob
import unittest

import checked_program
import figures

try:
    import pyodbc
except ImportError:
    pyodbc = None


def driver():
    """The path of the driver, which needs no entry in odbcinst.ini."""
    return next(iter(glob.glob("/usr/lib/*/odbc/psqlodbcw.so")), None)


class OdbcTest(checked_program.Counted):
    client = "ODBC"

    @classmethod
    def setUpClass(cls):
        if pyodbc is None or driver() is None:
            figures.missing("PostgreSQL's ODBC driver with pyodbc")
        super().setUpClass()

    def setUp(self):
        self.connection = self.connect()
        self.addCleanup(self.connection.close)
        type(self).version = self.connection.getinfo(pyodbc.SQL_DRIVER_VER)
        self.cursor = self.connection.cursor()

    def connect(self, options="", **arguments):
        return pyodbc.connect(
            f"Driver={driver()};Server=127.0.0.1;Port={self.server.port};Database=s;UID=ada;PWD=;{options}", **arguments)

    def rows(self, sql, *parameters):
        return [tuple(row) for row in self.cursor.execute(sql, *parameters).fetchall()]

    def test_rows(self):
        self.assertEqual(self.rows("SELECT id, title, score FROM notes ORDER BY id"),
                         [(1, "one", 1.5), (2, "two", 2.5)])

    def test_parameters(self):
        self.assertEqual(self.rows("SELECT title FROM notes WHERE id = ? AND score = ? AND title = ?", 2, 2.5, "two"),
                         [("two",)])

    def test_parameters_are_prepared_by_the_server(self):
        with self.connect("UseServerSidePrepare=1") as connection:
            cursor = connection.cursor()
            for number, title in ((1, "one"), (2, "two")):
                self.assertEqual(cursor.execute("SELECT title FROM notes WHERE id = ?", number).fetchone()[0], title)

    def test_null_and_text(self):
        self.cursor.execute("CREATE TABLE texts (id INTEGER PRIMARY KEY, t TEXT)")
        self.cursor.executemany("INSERT INTO texts VALUES (?, ?)", [(1, None), (2, "ä'\"\\"), (3, "")])
        self.assertEqual(self.rows("SELECT t FROM texts ORDER BY id"), [(None,), ("ä'\"\\",), ("",)])
        self.connection.rollback()
        self.assertEqual(list(self.cursor.tables(table="texts")), [])

    def test_bytes(self):
        self.cursor.execute("CREATE TABLE kept_bytes (b BYTEA)")
        self.cursor.execute("INSERT INTO kept_bytes VALUES (?)", b"\x00\x01\xff")
        self.assertEqual(self.rows("SELECT b FROM kept_bytes"), [(b"\x00\x01\xff",)])

    def test_dates(self):
        self.cursor.execute("CREATE TABLE days (d DATE, t TIMESTAMP)")
        day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 1)
        self.cursor.execute("INSERT INTO days VALUES (?, ?)", day, moment)
        self.assertEqual(self.rows("SELECT count(*) FROM days WHERE d = ? AND t > ?", day, datetime.datetime(2024, 1, 1)),
                         [(1,)])

    def test_tables(self):
        found = {(row.table_name, row.table_type) for row in self.cursor.tables(schema="public")}
        self.assertEqual(found, {("C", "TABLE"), ("X", "TABLE"), ("child", "TABLE"), ("notes", "TABLE"),
                                 ("titles", "VIEW")})

    def test_columns(self):
        found = [(row.column_name, row.type_name, row.nullable) for row in self.cursor.columns(table="notes")]
        self.assertEqual(found, [("id", "int8", 0), ("title", "text", 0), ("score", "float8", 1)])

    def test_columns_of_a_tensor(self):
        found = [(row.column_name, row.type_name) for row in self.cursor.columns(table="X")]
        self.assertEqual(found, [("i", "int8"), ("j", "int8"), ("val", "float4")])

    def test_primary_keys(self):
        found = [(row.column_name, row.key_seq) for row in self.cursor.primaryKeys("child")]
        self.assertEqual(found, [("a", 1), ("b", 2)])

    @checked_program.excluded("a column without its table in the condition of a join among several")
    def test_foreign_keys(self):
        found = [(row.pktable_name, row.pkcolumn_name, row.fkcolumn_name)
                 for row in self.cursor.foreignKeys(foreignTable="child")]
        self.assertEqual(found, [("notes", "id", "note")])

    def test_statistics(self):
        found = {(row.index_name, row.column_name) for row in self.cursor.statistics("notes") if row.index_name}
        self.assertEqual(found, {("notes_pkey", "id"), ("notes_title", "title")})

    def test_transactions(self):
        self.cursor.execute("INSERT INTO notes VALUES (3, 'three', 3.5)")
        self.connection.rollback()
        self.assertEqual(self.rows("SELECT count(*) FROM notes"), [(2,)])

    def test_an_error_in_a_transaction(self):
        with self.assertRaises(pyodbc.Error) as caught:
            self.cursor.execute("SELECT tittle FROM notes")
        self.assertIn("42", caught.exception.args[0][:2])
        self.connection.rollback()
        self.assertEqual(self.rows("SELECT 1"), [(1,)])

    def test_autocommit(self):
        with self.connect(autocommit=True) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS committed (n INTEGER)")
        self.assertEqual(self.rows("SELECT count(*) FROM committed"), [(0,)])
        self.cursor.execute("DROP TABLE committed")
        self.connection.commit()

    def test_cursors_with_declare_and_fetch(self):
        with self.connect("UseDeclareFetch=1;Fetch=10") as connection:
            found = connection.execute("SELECT a.i, b.i FROM X a JOIN X b ON 1 = 1 ORDER BY 1, 2").fetchall()
        self.assertEqual(len(found), 144)

    def test_einsum(self):
        self.assertEqual(self.rows("EINSUM Z[i] = SUM(X[i,j])"), [(0, 3.0), (1, 11.0), (2, 19.0)])

    def test_rows_of_a_tensor(self):
        self.assertEqual(self.rows("SELECT val FROM X WHERE i = ? AND j = ?", 1, 2), [(3.0,)])


if __name__ == "__main__":
    unittest.main()
