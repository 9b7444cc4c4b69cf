"""Tests the program from outside, as its users run it: shell_test.py EINDB

The tests cover options, exit statuses, messages and their places, every print mode, dot commands, pipes, and, on a
terminal, line editing, completion, history and Ctrl-C.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from terminal import TerminalTest  # noqa: E402
from waiting import wait_until_computing  # noqa: E402

EINDB = sys.argv.pop() if len(sys.argv) > 1 else None
MATRIX = "CREATE TENSOR X AS EINSUM X[i 2, j 2] = i + j / 2"
# The query never ends by itself.
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n;"


class ShellTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_eindb(self, *arguments, stdin=""):
        run = subprocess.run([EINDB, *map(str, arguments)], input=stdin, capture_output=True, text=True,
                             cwd=self.folder, env={**os.environ, "HOME": str(self.folder)}, timeout=240)
        return run.returncode, run.stdout, run.stderr

    def assert_output(self, expected, *arguments, stdin=""):
        self.assertEqual(self.run_eindb(*arguments, stdin=stdin), (0, expected, ""))

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name


class Options(ShellTest):
    def test_jobs_run_in_the_order_of_the_arguments(self):
        self.write("job.sql", "SELECT 2 AS two;\n")
        self.assert_output("one\n1\ntwo\n2\nthree\n3\n",
                           "-c", "SELECT 1 AS one", "-f", "job.sql", "-c", "SELECT 3 AS three")

    def test_a_database_file_outlives_the_program(self):
        self.assert_output("", "my.db", "-c", MATRIX)
        self.assert_output("i,val\n0,0.5\n1,1.5\n", "my.db", "-c", "EINSUM Z[i] = X[i,1]")

    def test_a_database_that_cannot_be_opened(self):
        status, output, message = self.run_eindb("no/such/folder/my.db", "-c", "SELECT 1")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("no/such/folder/my.db", message)

    def test_readonly_refuses_to_write(self):
        self.assert_output("", "my.db", "-c", MATRIX)
        status, _, message = self.run_eindb("--readonly", "my.db", "-c", "DROP TENSOR X")
        self.assertEqual(status, 1)
        self.assertIn("read", message.lower())
        self.assert_output("val\n1.5\n", "--readonly", "my.db", "-c", "EINSUM Z[] = X[1,1]")

    def test_spellings_of_sqlite3(self):
        self.assert_output('[{"a":1}]\n', "-json", "-bail", "-c", "SELECT 1 AS a")
        self.assert_output("1\n", "-csv", "-noheader", "-c", "SELECT 1 AS a")
        self.assert_output("SELECT 1 AS a\na\n1\n", "-echo", "-command", "SELECT 1 AS a")
        self.assert_output("threads\n1\n", "-threads", "1", "-memory-limit=64MB", "-c", "SHOW threads")

    def test_settings_of_the_session(self):
        status, output, _ = self.run_eindb("--threads", "1", "--memory-limit", "64MB", "-c", "SHOW threads")
        self.assertEqual(status, 0)
        self.assertIn("1", output.splitlines())
        status, _, message = self.run_eindb("--memory-limit", "much", "-c", "SELECT 1")
        self.assertEqual(status, 1)
        self.assertIn("memory_limit", message)

    def test_help_and_version_go_to_standard_output(self):
        status, output, message = self.run_eindb("--help")
        self.assertEqual((status, message), (0, ""))
        self.assertIn("--memory-limit", output)
        status, output, message = self.run_eindb("--version")
        self.assertEqual((status, message), (0, ""))
        lines = output.splitlines()
        self.assertRegex(lines[0], r"^eindb \d+\.\d+\.\d+$")
        facts = dict(line.split(": ", 1) for line in lines[1:])
        facts.pop("commit", None)  # there may be none
        self.assertEqual(list(facts), ["compiler", "SQLite", "kernels", "threads", "console"])
        self.assertIn(facts["console"], ("yes", "no"))  # as it was built
        self.assertRegex(facts["compiler"], r"^(GCC|Clang) \d+\.\d+\.\d+$")
        self.assertEqual(facts["SQLite"], self.run_eindb("--list", "--noheader", "-c", "SELECT sqlite_version()")[1].strip())
        self.assertRegex(facts["kernels"], r"^baseline(, v3)?(, v4)?; computes with (baseline|v3|v4)$")
        self.assertEqual(facts["threads"], self.run_eindb("--list", "--noheader", "-c", "SHOW threads")[1].strip())

    def test_mistakes_in_arguments(self):
        for arguments in (["--nope"], ["--mode", "pretty"], ["--threads", "many"], ["a.db", "b.db"]):
            status, output, message = self.run_eindb(*arguments)
            self.assertEqual((status, output), (1, ""), arguments)
            self.assertNotEqual(message, "")
        for arguments, command in ((["server"], "serve"), (["server", "a.db"], "serve"), (["workers"], "worker")):
            status, _, message = self.run_eindb(*arguments)
            self.assertEqual(status, 1)
            self.assertIn(f"did you mean {command}?", message)
        self.assertIn("DATABASE is required", self.run_eindb("serve")[2])
        self.assertIn("--listen", self.run_eindb("a.db", "serve", "--listen", "nowhere")[2])  # the database may stand first


class Errors(ShellTest):
    def test_the_first_error_ends_a_script_with_status_1(self):
        status, output, message = self.run_eindb("-c", "SELECT 1 AS a; SELECT nope; SELECT 3 AS c")
        self.assertEqual((status, output), (1, "a\n1\n"))
        self.assertIn("nope", message)

    def test_the_first_failed_job_is_the_last(self):
        self.assertEqual(self.run_eindb("-c", "SELECT nope", "-c", "SELECT 1")[:2], (1, ""))

    def test_places_are_those_of_the_file(self):
        self.write("job.sql", f"-- comment\n{MATRIX};\n\n\nSELECT 1; EINSUM Z[i] =\n  X[i,j];\n")
        status, _, message = self.run_eindb("-f", "job.sql")
        self.assertEqual(status, 1)
        self.assertRegex(message, r"^job\.sql:6: label error: .*\n  at line 6, column \d+:\n      X\[i,j\];\n +\^")

    def test_places_in_standard_input(self):
        status, _, message = self.run_eindb(stdin="SELECT 1;\n\nEINSUM Z[i] = Q[i];\n")
        self.assertEqual(status, 1)
        self.assertRegex(message, r"^stdin:3: ")

    def test_a_byte_order_mark_is_no_part_of_a_script(self):
        self.write("job.sql", "\ufeffSELECT 1 AS a;\nSELECT 2 AS b;\n")
        self.assertEqual(self.run_eindb("-f", "job.sql"), (0, "a\n1\nb\n2\n", ""))
        self.assertEqual(self.run_eindb(stdin="\ufeffSELECT 1 AS a;\n")[:2], (0, "a\n1\n"))
        self.assertEqual(self.run_eindb(stdin="SELECT 1 AS a;\n\ufeffSELECT 2;\n")[0], 1)

    def test_without_bail_a_script_goes_on_and_still_fails(self):
        status, output, _ = self.run_eindb(stdin=".bail off\nSELECT nope;\nSELECT 2 AS b;\n")
        self.assertEqual((status, output), (1, "b\n2\n"))

    def test_a_script_that_is_missing(self):
        status, output, message = self.run_eindb("-f", "no_such.sql")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("no_such.sql", message)

    def test_scripts_that_read_each_other_end(self):
        self.write("self.sql", ".read self.sql\n")
        status, _, message = self.run_eindb("-f", "self.sql")
        self.assertEqual(status, 1)
        self.assertIn("without end", message)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            run = subprocess.run([EINDB, "-c", "SELECT 1"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("No space left", run.stderr)

    def test_exit_gives_the_status(self):
        self.assertEqual(self.run_eindb(stdin=".bail off\nSELECT nope;\n.exit 0\nSELECT 1;\n")[:2], (0, ""))
        self.assertEqual(self.run_eindb("-c", ".exit 3", "-f", "no_such.sql"), (3, "", ""))
        self.assertEqual(self.run_eindb(stdin=".bail off\nSELECT nope;\n.quit\n")[0], 1)
        for argument in ("x", "-1", "256", "1 2"):
            status, _, message = self.run_eindb("-c", f".exit {argument}")
            self.assertEqual(status, 1, argument)
            self.assertNotEqual(message, "")

    def test_a_closed_pipe_is_quiet(self):
        with subprocess.Popen([EINDB, "-c", ENDLESS.replace("COUNT(*)", "x")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            self.assertEqual(run.stdout.readline(), b"x\n")
            run.stdout.close()
            self.assertEqual(run.wait(timeout=240), -signal.SIGPIPE)
            self.assertEqual(run.stderr.read(), b"")


class Modes(ShellTest):
    ROWS = "SELECT * FROM (VALUES (1, 'x,y'), (2.5, NULL), (-3, ''), (4, 'say \"a|b\"'))"
    SQL = f"SELECT column1 AS a, column2 AS b FROM ({ROWS})"

    def assert_mode(self, mode, expected, sql=SQL):
        self.assert_output(expected, "--mode", mode, "-c", sql)

    def test_csv_tells_null_from_empty(self):
        self.assert_mode("csv", 'a,b\n1,"x,y"\n2.5,\n-3,""\n4,"say ""a|b"""\n')

    def test_csv_is_the_default_where_nobody_looks(self):
        self.assert_output("a\n1\n", "-c", "SELECT 1 AS a")

    def test_list(self):
        self.assert_mode("list", 'a|b\n1|x,y\n2.5|\n-3|\n4|say "a|b"\n')

    def test_json(self):
        status, output, _ = self.run_eindb("--json", "-c", self.SQL)
        self.assertEqual(status, 0)
        self.assertEqual(json.loads(output), [{"a": 1, "b": "x,y"}, {"a": 2.5, "b": None}, {"a": -3, "b": ""},
                                              {"a": 4, "b": 'say "a|b"'}])
        self.assert_mode("json", "[]\n", "SELECT 1 AS a WHERE 0")

    def test_json_has_no_nan(self):
        self.assert_mode("json", '[{"val":"Infinity"}]\n', "EINSUM Z[] = INFINITY")
        self.assert_mode("json", '[{"val":"NaN"}]\n', "EINSUM Z[] = NAN")

    def test_jsonlines(self):
        self.assert_mode("jsonlines", '{"a":1}\n{"a":2}\n', "SELECT 1 AS a UNION ALL SELECT 2")
        self.assert_mode("jsonlines", "", "SELECT 1 AS a WHERE 0")

    def test_markdown(self):
        self.assert_mode("markdown", "| a | b |\n|---|---|\n| 1 | x\\|y |\n", "SELECT '1' AS a, 'x|y' AS b")

    def test_line(self):
        self.assert_mode("line", "  a = 1\nbcd = x\n\n  a = 2\nbcd = y\n",
                         "SELECT 1 AS a, 'x' AS bcd UNION ALL SELECT 2, 'y'")

    def test_box(self):
        self.assert_mode("box", "┌────┬──────┐\n│ a  │ b    │\n├────┼──────┤\n│  1 │ 日本 │\n│ 22 │ NULL │\n└────┴──────┘\n",
                         "SELECT 1 AS a, '日本' AS b UNION ALL SELECT 22, NULL")

    def test_box_shows_control_characters_as_text(self):
        _, output, _ = self.run_eindb("--mode", "box", "-c", "SELECT char(27) || '[2J' AS a")
        self.assertIn("\\x1B[2J", output)

    def test_tensor(self):
        _, output, _ = self.run_eindb("--mode", "tensor", "-c", MATRIX, "-c", "EINSUM Z[i,j] = X[i,j]")
        self.assertEqual(output, "Z[i 2, j 2] FLOAT64\n[[0.  0.5]\n [1.  1.5]]\n")

    def test_large_tensors_are_abbreviated_across_their_tiles(self):
        _, output, _ = self.run_eindb("--mode", "tensor", "-c", "SET tile_bytes = 256",
                                      "-c", "CREATE TENSOR L AS EINSUM L[i 40, j 50] = CAST(50 * i + j AS INT64)",
                                      "-c", "EINSUM Z[i,j] = L[i,j]")
        lines = output.splitlines()
        self.assertEqual(lines[1], "[[   0    1    2 ...   47   48   49]")
        self.assertEqual(lines[4], " ...")
        self.assertEqual(lines[-1], " [1950 1951 1952 ... 1997 1998 1999]]")

    def test_plain_sql_in_tensor_mode_is_a_box(self):
        self.assert_mode("tensor", "┌───┐\n│ a │\n├───┤\n│ 1 │\n└───┘\n", "SELECT 1 AS a")

    def test_long_results_are_not_held(self):
        """Rows are streamed: two million of them, which would take some 300 MB, do not raise the peak of memory."""
        sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 2000000) SELECT x, 'some text' FROM n"
        for mode in ("csv", "json", "list"):
            run = subprocess.Popen([EINDB, "--mode", mode, "-c", sql], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(run.returncode, 0)
            self.assertLess(usage.ru_maxrss, 200_000)  # KiB


class Commands(ShellTest):
    def test_settings(self):
        self.assert_output("a\n1\n[{\"a\":2}]\n", stdin="SELECT 1 AS a;\n.mode json\nSELECT 2 AS a;\n")
        self.assert_output("1\n", stdin=".headers off\nSELECT 1 AS a;\n")
        self.assert_output("SELECT 1 AS a;\na\n1\n", stdin=".echo on\nSELECT 1 AS a;\n")
        self.assert_output("a = 1\n", stdin="\\x\nSELECT 1 AS a;\n")

    def test_timer_writes_to_standard_error(self):
        status, output, message = self.run_eindb(stdin=".timer on\nSELECT 1 AS a;\n")
        self.assertEqual((status, output), (0, "a\n1\n"))
        self.assertRegex(message, r"^Time: \d+\.\d+ ms\n$")

    def test_output_goes_to_files(self):
        self.assert_output("c\n3\n", stdin=".once a.csv\nSELECT 1 AS a;\nSELECT 3 AS c;\n.output b.csv\nSELECT 2 AS b;\n")
        self.assertEqual((self.folder / "a.csv").read_text(), "a\n1\n")
        self.assertEqual((self.folder / "b.csv").read_text(), "b\n2\n")

    def test_tables_and_schema(self):
        setup = f'{MATRIX};\nCREATE TABLE plain (a INTEGER);\nCREATE TENSOR "a b" (i 3, "j k" 4) FLOAT32 PARTITION (1, 2);\n'
        self.assert_output("X\na b\nplain\n", stdin=setup + ".tables\n")
        self.assert_output("plain\n", stdin=setup + "\\dt pl%\n")
        self.assert_output('CREATE TENSOR "a b" (i 3, "j k" 4) FLOAT32 PARTITION (1, 2);\n', stdin=setup + ".schema 'a b'\n")
        _, output, _ = self.run_eindb(stdin=setup + ".schema\n")
        self.assertIn("CREATE TENSOR X (i 2, j 2) FLOAT64 PARTITION (1, 1);\n", output)
        self.assertIn("CREATE TABLE plain (a INTEGER);\n", output)
        _, output, _ = self.run_eindb(stdin=setup + "\\d X\n")
        self.assertIn("FLOAT64", output)

    def test_users_are_not_shown_as_tables(self):
        setup = "CREATE USER ann PASSWORD 'secret';\nCREATE TABLE plain (a INTEGER);\n"
        self.assert_output("plain\n", stdin=setup + ".tables\n")
        self.assert_output("CREATE TABLE plain (a INTEGER);\n", stdin=setup + ".schema\n")

    def test_schema_can_be_run_again(self):
        setup = (f'{MATRIX};\nCREATE TENSOR s () INT64;\nCREATE TABLE "odd name" (a);\n'
                 'CREATE MACRO z(x) AS x^2;\nCREATE MACRO "a b"(x, l) AS SUM[l](z(x));\n'
                 'CREATE OR REPLACE MACRO z(x) AS x^3;\n')
        _, schema, _ = self.run_eindb(stdin=setup + ".schema\n")
        _, again, _ = self.run_eindb(stdin=schema + ".schema\n")
        self.assertEqual(again, schema)

    def test_read_locates_errors_in_the_script_it_reads(self):
        self.write("inner.sql", "SELECT 1 AS a;\nSELECT nope;\n")
        status, output, message = self.run_eindb(stdin=".read inner.sql\nSELECT 2;\n")
        self.assertEqual((status, output), (1, "a\n1\n"))
        self.assertRegex(message, r"^inner\.sql:2: ")

    def test_quit_leaves_at_once(self):
        self.assert_output("", stdin=".quit\nSELECT nope;\n")
        self.assert_output("", stdin="\\q\nSELECT nope;\n")

    def test_names_may_be_shortened(self):
        self.assert_output("X\n", stdin=f"{MATRIX};\n.tab\n")
        self.assertIn(".timer, .timing", self.run_eindb(stdin=".ti\n")[2])
        self.assertIn("did you mean .tables?", self.run_eindb(stdin=".tabels\n")[2])

    def test_help_of_a_pattern(self):
        _, output, _ = self.run_eindb(stdin=".help\n")
        self.assertGreater(len(output.splitlines()), 15)
        self.assertIn("semicolon", output)
        _, output, _ = self.run_eindb(stdin=".help .mo\n")
        self.assertEqual(len(output.splitlines()), 1)
        self.assertIn("tensor", output)
        self.assertEqual(self.run_eindb(stdin=".help nothing\n")[0], 1)

    def test_unknown_commands_and_arguments(self):
        for line in (".nope", ".mode pretty", ".headers perhaps", ".read", ".tables a b", ".maxrows x"):
            status, _, message = self.run_eindb(stdin=line + "\n")
            self.assertEqual(status, 1, line)
            self.assertIn("stdin:1: ", message)

    def test_plans_are_plain_lines_unless_a_mode_was_chosen(self):
        sql = f"{MATRIX}; EXPLAIN EINSUM Z[i] = SUM(X[i,j])"
        _, plain, _ = self.run_eindb("-c", sql)
        self.assertNotIn('"', plain)
        _, rows, _ = self.run_eindb("--jsonlines", "-c", sql)
        self.assertEqual(len([json.loads(line) for line in rows.splitlines()]), len(plain.splitlines()))

    def test_dots_within_statements_are_no_commands(self):
        self.assert_output("a\n0.5\n", stdin="SELECT\n.5 AS a;\n")

    def test_the_last_statement_needs_no_semicolon(self):
        self.assert_output("a\n1\n", stdin="SELECT 1 AS a")
        self.assert_output("", stdin="-- nothing but a comment\n/* and\n another */")

    def test_lines_may_end_as_on_windows(self):
        self.assert_output("a\n1\n", stdin="SELECT 1\r\n AS a;\r\n")


class Interrupt(ShellTest):
    def test_ctrl_c_ends_a_script_with_a_message(self):
        with subprocess.Popen([EINDB, "-c", ENDLESS, "-c", "SELECT 2"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as run:
            # By then the program runs the endless statement.
            self.assertTrue(wait_until_computing(run.pid, 1))
            run.send_signal(signal.SIGINT)
            output, message = run.communicate(timeout=240)
        self.assertEqual((run.returncode, output), (1, ""))
        self.assertIn("cancelled", message)


class Terminal(TerminalTest):
    """Tests the program on its own terminal."""

    eindb = EINDB

    def test_a_session(self):
        self.start()
        self.type("SELECT 1 AS one,\n")
        self.expect("  ...> ")
        self.type("2 AS two;\n")
        self.assertIn("│ one │ two │", self.expect("eindb> "))
        self.type(MATRIX + ";\n")
        self.expect("CREATE TENSOR\r\n")
        self.expect("eindb> ")
        self.type("SELECT nope;\n")
        self.expect("no such column: nope")
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)
        history = (self.folder / ".eindb_history").read_text()
        self.assertIn("SELECT\\0401\\040AS\\040one,\\0122\\040AS\\040two;", history)
        self.assertEqual((self.folder / ".eindb_history").stat().st_mode & 0o077, 0)

    def test_history_keeps_no_passwords(self):
        self.start()
        self.run_line("SELECT 1;")
        self.type("CREATE USER ann\n")
        self.expect("  ...> ")
        self.type("PASSWORD 'secret';\n")
        self.expect("CREATE USER\r\n")
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)
        self.assertNotIn("secret", (self.folder / ".eindb_history").read_text())

    def test_tab_completes_keywords_and_tensors(self):
        self.start()
        self.type("CREATE TENSOR Population (i 3);\n")
        self.expect("eindb> ")
        self.type("eins\t")
        self.expect("um ")
        self.type("Z[i] = Popu\t")
        self.expect("lation ")
        self.type("[i];\n")
        self.assertIn("│ 2 │ 0.0 │", self.expect("eindb> "))
        self.assertEqual(self.leave(), 0)

    def test_ctrl_c_cancels_the_statement_and_the_session_goes_on(self):
        self.start()
        self.type(ENDLESS + "\n")
        self.assertTrue(wait_until_computing(self.pid))
        self.type("\x03")
        self.expect("cancelled")
        self.expect("eindb> ")
        self.type("SELECT 40 + 2 AS answer;\n")
        self.assertIn("42", self.expect("eindb> "))
        self.assertEqual(self.leave(), 0)

    def test_ctrl_c_clears_what_was_typed(self):
        self.start()
        self.type("SELECT\n")
        self.expect("  ...> ")
        self.type("nonsense\x03")
        self.expect("eindb> ")
        self.type("SELECT 40 + 2 AS answer;\n")
        self.assertIn("42", self.expect("└"))
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)

    def test_long_results_show_their_ends(self):
        self.start()
        self.type("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000) SELECT x FROM n;\n")
        output = self.expect("1000 rows, 40 shown")
        self.assertIn("│ 1000 │", output)
        self.assertNotIn("│  500 │", output)
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)


if __name__ == "__main__":
    unittest.main()
