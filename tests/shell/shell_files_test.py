"""Tests the shell's commands for files and the schema from outside: shell_files_test.py EINDB

The tests cover .dump, .import, .backup, .open, \\copy, .shell, and what .describe, .indexes and .databases show.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EINDB = sys.argv.pop() if len(sys.argv) > 1 else None


class FilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_eindb(self, *arguments, stdin=""):
        run = subprocess.run([EINDB, *map(str, arguments)], input=stdin, capture_output=True, text=True,
                             cwd=self.folder, env={**os.environ, "HOME": str(self.folder)}, timeout=240)
        return run.returncode, run.stdout, run.stderr

    def output_of(self, *arguments, stdin=""):
        status, output, message = self.run_eindb(*arguments, stdin=stdin)
        self.assertEqual((status, message), (0, ""))
        return output

    def assert_fails(self, message, *arguments, stdin=""):
        status, _, told = self.run_eindb(*arguments, stdin=stdin)
        self.assertEqual(status, 1)
        self.assertIn(message, told)

    def write(self, name, text):
        (self.folder / name).write_text(text)


class Dump(FilesTest):
    SETUP = """
CREATE MACRO square(x) AS x^2;
CREATE TENSOR X (i 3, "j k" 2) FLOAT64 PARTITION (2, 1);
INSERT INTO TENSOR X VALUES (0, 0, 1.5), (1, 1, NAN), (2, 0, -INFINITY), (2, 1, 1e-300), (1, 0, -0.0);
CREATE TENSOR single (i 4) FLOAT32;
INSERT INTO TENSOR single VALUES (1, 0.1), (3, 16777216);
CREATE TENSOR whole (i 3) INT64;
INSERT INTO TENSOR whole VALUES (0, -9223372036854775807), (2, 1234567890123456789);
CREATE TENSOR waves (i 3) COMPLEX128;
INSERT INTO TENSOR waves VALUES (0, COMPLEX(0, -2.5)), (2, COMPLEX(1, 0));
CREATE TENSOR scalar () FLOAT64;
INSERT INTO TENSOR scalar VALUES (7);
CREATE TENSOR named (city IN ('Oslo', 'it''s'), day FROM '2024-01-30' TO '2024-02-02', none IN (SELECT 1 WHERE 0));
CREATE TENSOR visits (city IN ('Oslo', 'it''s'), hour FROM '2024-01-01 00:00:00' TO '2024-01-01 18:00:00' STEP '6 hours', i 2);
INSERT INTO TENSOR visits VALUES ('it''s', '2024-01-01 06:00:00', 1, 5), ('Oslo', '2024-01-01 18:00:00', 0, NULL);
CREATE TABLE "odd name" (id INTEGER PRIMARY KEY AUTOINCREMENT, "a b" TEXT, r REAL, b BLOB,
                         twice AS (r * 2));
INSERT INTO "odd name" ("a b", r, b) VALUES ('it''s', 0.1, x'00ff'), (NULL, 9e999, NULL),
                                            ('two' || char(10) || 'lines; --', -9e999, 5),
                                            ('zero' || char(0) || 'byte', 1e300, 'text');
DELETE FROM "odd name" WHERE id = 4 AND 0;
CREATE INDEX by_r ON "odd name" (r);
CREATE VIEW v AS SELECT id, "a b" FROM "odd name" WHERE r > 0;
CREATE TABLE log (n);
CREATE TRIGGER logged AFTER INSERT ON "odd name" BEGIN INSERT INTO log VALUES (new.id); END;
"""

    def test_a_dump_makes_the_database_again(self):
        dump = self.output_of("my.db", stdin=self.SETUP + ".dump\n")
        again = self.output_of("again.db", stdin=dump + ".dump\n")
        self.assertEqual(again, dump)
        for statement in ('EINSUM Z[i,j] = X[i,j]', 'EINSUM Z[i] = single[i]', 'EINSUM Z[i] = whole[i]',
                          'EINSUM Z[i] = waves[i]', 'EINSUM Z[] = scalar', 'SELECT * FROM visits', 'DESCRIBE named', 'SELECT id, "a b", r, twice FROM "odd name"',
                          'SELECT id, typeof("a b"), hex("a b"), typeof(b), hex(b) FROM "odd name"',
                          'SELECT * FROM v', 'SELECT * FROM log', 'SELECT * FROM sqlite_sequence',
                          'EINSUM Z[i] = square(single[i])'):
            first = self.output_of("my.db", "-c", statement)
            self.assertEqual(self.output_of("again.db", "-c", statement), first)
            self.assertNotEqual(first, "")

    def test_a_dump_of_few_cells(self):
        """Those that are not there take no time: there are 10^10."""
        setup = ("CREATE TENSOR far (i 100000, j 100000); "
                 "INSERT INTO TENSOR far VALUES (99999, 5, 1e-300), (0, 0, INFINITY), (5, 5, -0.0), (7, 7, NAN);\n")
        dump = self.output_of("my.db", stdin=setup + ".dump\n")
        self.assertIn("INSERT INTO TENSOR far VALUES (0, 0, INFINITY),\n  (5, 5, -0.0),\n  (7, 7, NAN),\n"
                      "  (99999, 5, 1e-300);\n", dump)  # fmt: skip

    def test_a_dump_of_one_thing(self):
        self.output_of("my.db", stdin=self.SETUP)
        dump = self.output_of("my.db", "-c", ".dump whole")
        self.assertEqual(dump, "BEGIN;\nCREATE TENSOR whole (i 3) INT64 PARTITION (1);\n"
                               "INSERT INTO TENSOR whole VALUES (0, -9223372036854775807),\n"
                               "  (2, 1234567890123456789);\nCOMMIT;\n")
        dump = self.output_of("my.db", "-c", ".dump 'odd name'")
        self.assertIn("CREATE INDEX by_r", dump)
        self.assertNotIn("TENSOR", dump)
        self.assert_fails("there is no tensor or table nothing", "my.db", "-c", ".dump nothing")

    def test_plans_are_drawn(self):
        setup = "CREATE TENSOR X AS EINSUM X[i 3, j 4] = i + j;\nEINSUM Z[i] = SUM(X[i,j]);\n"
        self.output_of(":memory:", stdin=setup + ".plan plan.html\n.plan run.html analyze\n")
        for name, measured in (("plan.html", False), ("run.html", True)):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                page = file.read()
            self.assertTrue(page.startswith("<!doctype html>"), page[:100])
            self.assertTrue(page.endswith("</html>\n"), page[-100:])
            self.assertEqual('"execution_seconds"' in page, measured)
        for line, message in ((".plan", "needs the name of a file"), (".plan a.html b", "nothing that .plan knows"),
                              (".plan a.html", "no statement whose plan could be drawn")):  # fmt: skip
            self.assert_fails(message, ":memory:", "-c", line)
        self.assert_fails("", ":memory:", "-c", "SELECT 1", "-c", ".plan a.html")

    def test_tensors_that_are_too_large_are_refused(self):
        self.output_of("my.db", "-c", "CREATE TENSOR big AS EINSUM big[i 1200, j 1000] = i + j + 1",
                       "-c", "CREATE TENSOR sparse (i 10000, j 10000)",
                       "-c", "INSERT INTO TENSOR sparse VALUES (7, 8, 9)")
        status, output, message = self.run_eindb("my.db", "-c", ".dump")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("tensor big has 1200000 cells", message)
        self.assertIn("COPY big TO", message)
        self.assertIn("(7, 8, 9.0)", self.output_of("my.db", "-c", ".dump sparse"))

    def test_users_are_left_out_and_virtual_tables_refused(self):
        dump = self.output_of("my.db", "-c", "CREATE USER ann PASSWORD 'secret'", "-c", ".dump")
        self.assertIn("-- Users", dump)
        self.assertNotIn("ann", dump)
        self.assert_fails("words is a virtual table", "-c", "CREATE VIRTUAL TABLE words USING fts5(text)", "-c", ".dump")

    def test_a_dump_within_a_transaction_has_its_changes(self):
        self.assertIn("VALUES (1)", self.output_of(
            "-c", "CREATE TABLE t (a)", "-c", "BEGIN", "-c", "INSERT INTO t VALUES (1)", "-c", ".dump",
            "-c", "COMMIT"))


class Import(FilesTest):
    def test_a_table_is_made_with_types_that_its_values_have(self):
        self.write("a.csv", "n,share,name,code,large,none\n1,0.5,x,007,9223372036854775808,\n-2,1e3,\"y, \"\"z\"\"\",12,1,\n"
                            ",,,,,\n3,-0.25,\"\",0x1,2,\n")
        output = self.output_of("my.db", "-c", ".import a.csv t", "-c", "\\d t", "-c", "SELECT * FROM t")
        self.assertEqual(output, "column,type,nullable,default,key\n" +
                         "".join(f"{name},{kind},yes,,\n" for name, kind in (
                             ("n", "INTEGER"), ("share", "REAL"), ("name", "TEXT"), ("code", "TEXT"),
                             ("large", "TEXT"), ("none", "TEXT"))) +
                         'n,share,name,code,large,none\n1,0.5,x,007,9223372036854775808,\n'
                         '-2,1000.0,"y, ""z""",12,1,\n,,,,,\n3,-0.25,"",0x1,2,\n')

    def test_rows_are_added_to_columns_by_their_names(self):
        self.write("a.csv", "b,a\r\nx,1\r\ny,2\r\n")
        self.assertEqual(self.output_of("-c", "CREATE TABLE t (a INTEGER, b TEXT, c TEXT DEFAULT 'z')",
                                        "-c", ".import a.csv t", "-c", "SELECT * FROM t"),
                         "a,b,c\n1,x,z\n2,y,z\n")

    def test_a_file_without_names_of_columns(self):
        self.write("a.csv", "1,x\n2,y\n")
        self.assert_fails("--noheader takes the first line as values", "-c", "CREATE TABLE t (a INTEGER, b TEXT)",
                          "-c", ".import a.csv t")
        self.assertEqual(self.output_of("-c", "CREATE TABLE t (a INTEGER, b TEXT)", "-c", ".import --noheader a.csv t",
                                        "-c", "SELECT * FROM t"), "a,b\n1,x\n2,y\n")
        self.assertEqual(self.output_of("-c", ".import --noheader a.csv t", "-c", "SELECT * FROM t"),
                         "c1,c2\n1,x\n2,y\n")

    def test_other_separators(self):
        self.write("a.tsv", "a\tb\n1\tx y\n")
        self.write("b.txt", "a;b\n2;z\n")
        self.assertEqual(self.output_of("-c", ".import a.tsv t", "-c", ".import --separator ';' b.txt t",
                                        "-c", "SELECT * FROM t"), "a,b\n1,x y\n2,z\n")

    def test_a_mistake_adds_nothing(self):
        self.write("short.csv", "a,b\n1,2\n3\n")
        self.write("open.csv", "a,b\n1,\"2\n3,4\n")
        self.write("behind.csv", "a,b\n1,\"2\"3\n")
        self.write("twice.csv", "a\n1\n1\n")
        for name, message in (("short", "short.csv:3: this row has 1 values"), ("open", "open.csv:2: a quote has no end"),
                              ("behind", "behind.csv:2: a value goes on behind its closing quote")):
            status, output, told = self.run_eindb(stdin=f".bail off\n.import {name}.csv t\n.tables\n")
            self.assertEqual((status, output), (1, ""), name)
            self.assertIn(message, told)
        status, output, told = self.run_eindb(stdin=".bail off\nCREATE TABLE t (a UNIQUE);\nINSERT INTO t VALUES (5);\n"
                                                    ".import twice.csv t\nSELECT * FROM t;\n")
        self.assertEqual((status, output), (1, "a\n5\n"))
        self.assertIn("UNIQUE", told)

    def test_within_a_transaction(self):
        self.write("a.csv", "a\n1\n")
        self.write("short.csv", "a,b\n1,2\n3\n")
        self.assertEqual(self.run_eindb(stdin=".bail off\nBEGIN;\n.import a.csv t\n.import short.csv u\n.tables\n"
                                              "ROLLBACK;\n.tables\n")[1], "t\n")

    def test_what_cannot_be_imported(self):
        self.write("a.csv", "i,val\n0,1\n")
        self.write("empty.csv", "")
        self.assert_fails("COPY X FROM 'a.csv'", "-c", "CREATE TENSOR X (i 2)", "-c", ".import a.csv X")
        self.assert_fails("'/dev/stdin' is no file", "-c", ".import /dev/stdin t", stdin="a,b\n1,2\n")
        self.assert_fails("'.' is no file", "-c", ".import . t")
        self.assert_fails("cannot read 'no.csv'", "-c", ".import no.csv t")
        self.assert_fails("'empty.csv' has no rows", "-c", ".import empty.csv t")
        self.assert_fails(".import needs a file and a table", "-c", ".import a.csv")
        self.assert_fails("no option --nope", "-c", ".import --nope a.csv t")


class Backup(FilesTest):
    def test_a_copy_has_everything(self):
        self.output_of("my.db", stdin=Dump.SETUP + "CREATE USER ann PASSWORD 'secret';\n.backup copy.db\n")
        self.assertEqual(self.output_of("copy.db", "-c", ".dump", "-c", "\\du"),
                         self.output_of("my.db", "-c", ".dump", "-c", "\\du"))

    def test_nothing_is_overwritten(self):
        self.write("copy.db", "something else")
        self.assert_fails("'copy.db' exists already", "my.db", "-c", "CREATE TENSOR X (i 2)", "-c", ".backup copy.db")
        self.assertEqual((self.folder / "copy.db").read_text(), "something else")
        self.assert_fails("transaction", "my.db", "-c", "BEGIN", "-c", ".backup other.db")
        self.assertFalse((self.folder / "other.db").exists())


class Commands(FilesTest):
    def test_describe_of_tables_and_views(self):
        setup = ("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', c);\n"
                 "CREATE TENSOR X (i 2);\nCREATE VIEW v AS SELECT i, val FROM X;\n")
        self.assertEqual(self.output_of("my.db", stdin=setup + "\\d t\n"),
                         "column,type,nullable,default,key\nid,INTEGER,no,,1\nname,TEXT,no,'x',\nc,\"\",yes,,\n")
        self.assertEqual([line.split(",")[0] for line in self.output_of("my.db", "-c", "\\d+ v").splitlines()],
                         ["column", "i", "val"])

    def test_open(self):
        self.assertEqual(self.output_of("one.db", stdin="CREATE TABLE a (x);\n.open two.db\nCREATE TABLE b (x);\n"
                                                        ".tables\n.open one.db\n.tables\n"), "b\na\n")
        self.assert_fails("a transaction is open", stdin="BEGIN;\n.open two.db\n")
        self.assert_fails("no/such", stdin=".open no/such/file.db\n")
        self.assertEqual(self.run_eindb("one.db", stdin=".bail off\n.open no/such/file.db\n.tables\n")[1], "a\n")

    def test_indexes_and_databases(self):
        setup = "CREATE TABLE t (a UNIQUE, b); CREATE INDEX by_b ON t (b); CREATE TABLE u (c); CREATE INDEX by_c ON u (c);"
        self.assertEqual(self.output_of("my.db", "-c", setup, "-c", ".indexes", "-c", "\\di u"), "by_b\nby_c\nby_c\n")
        self.assertRegex(self.output_of("my.db", "-c", "\\l"), r"^name,file\nmain,.*/my\.db\n$")

    def test_null_value(self):
        self.assertEqual(self.output_of(stdin=".nullvalue -\nSELECT 1 AS a, NULL AS b;\n.mode line\nSELECT NULL AS c;\n"
                                              ".nullvalue\n.mode csv\nSELECT 1 AS a, NULL AS b;\n"),
                         "a,b\n1,-\nc = -\na,b\n1,\n")
        self.assertIn("│ 1 │   │", self.output_of("--box", stdin=".nullvalue ''\nSELECT 1 AS a, NULL AS b;\n"))

    def test_shell_runs_commands_of_the_system(self):
        self.assertEqual(self.output_of(stdin="SELECT 1 AS a;\n.shell echo 'two  words' \"$HOME\" | cat\n"),
                         f"a\n1\ntwo  words {self.folder}\n")
        self.assert_fails("status 3", "-c", "\\! exit 3")

    def test_copy_as_in_psql(self):
        self.output_of("-c", "CREATE TENSOR X AS EINSUM X[i 2] = i + 1", "-c", "\\copy X TO 'x.csv';")
        self.assertEqual((self.folder / "x.csv").read_text().splitlines()[-1].split(",")[-1], "2.0")

    def test_watch_a_number_of_times(self):
        output = self.output_of(stdin="SELECT 1 AS a;\n.watch 0 2\n")
        self.assertEqual(len(re.findall(r"^-- \d{4}-\d\d-\d\d", output, re.M)), 2)
        self.assertEqual(output.count("a\n1\n"), 3)
        self.assert_fails("no statement to repeat", "-c", ".watch")

    def test_a_word_stays_a_statement_in_a_script(self):
        self.assert_fails("exit", stdin="exit\n")

    def test_edit_needs_a_terminal(self):
        self.assert_fails("needs a terminal", "-c", "SELECT 1", "-c", "\\e")


class Arguments(FilesTest):
    def test_words_that_are_no_databases(self):
        for word in ("help", "version"):
            self.assert_fails(f"eindb --{word} is one", word)
            self.assertFalse((self.folder / word).exists())
            self.output_of(f"./{word}", "-c", "CREATE TENSOR X (i 2)")
            self.output_of(word, "-c", "SHOW TENSORS")

    def test_statements_stand_after_an_option(self):
        self.assert_fails('eindb my.db -c "SELECT 1"', "my.db", "SELECT 1")
        self.assert_fails('eindb -c "SELECT 1"', "SELECT 1")
        self.assert_fails('eindb -c "create table t(a)"', "create table t(a)")
        self.assert_fails("not expected: x --standbye", "my.db", "--standbye", "x", "-c", "SELECT 1")
        self.assertEqual(list(self.folder.iterdir()), [])
        self.output_of("my own.db", "-c", "SELECT 1")


if __name__ == "__main__":
    unittest.main()
