"""Tests the shell as its user sees it, in a pseudo-terminal: terminal_test.py EINDB

The tests cover long and wide results, the pager, pasted text, the history of statements, words such as `help`, the start
file, completion of paths and settings, and the commands that repeat and edit statements.
"""
import os
import sys
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))

from terminal import PASTE_BEGIN, PASTE_END, TerminalTest  # noqa: E402
from waiting import wait_until_computing  # noqa: E402

EINDB = sys.argv.pop() if len(sys.argv) > 1 else None


class Terminal(TerminalTest):
    eindb = EINDB

    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path


class Results(Terminal):
    def test_a_large_tensor_shows_its_ends(self):
        self.start()
        output = self.run_line("EINSUM Z[i 2500, j 4000] = 1.0 * i + j / 4000;")
        self.assertIn("10000000 rows, 40 shown", output)
        self.assertIn("│ 2499 │ 3999 │", output)
        self.assertRegex(output, r"│ +0 │ +19 │")
        self.assertNotRegex(output, r"│ +0 │ +20 │")
        self.assertEqual(self.leave(), 0)

    def test_rows_of_sql_are_not_read_to_their_end(self):
        self.start()
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;"
        output = self.run_line(endless)
        self.assertIn("more than 1000 rows, 40 shown", output)
        self.assertIn("│ 40 │", output)
        self.assertNotIn("│ 41 │", output)
        self.assertEqual(self.leave(), 0)

    def test_up_to_a_thousand_rows_of_sql_are_counted(self):
        self.start()
        numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT {}) SELECT x FROM n;"
        output = self.run_line(numbers.format(45))
        self.assertIn("45 rows, 40 shown", output)
        for shown in (1, 20, 26, 45):
            self.assertIn(f"│ {shown:2} │", output)
        for hidden in (21, 25):
            self.assertNotIn(f"│ {hidden:2} │", output)
        self.assertIn("1000 rows, 40 shown", self.run_line(numbers.format(1000)))
        self.assertIn("more than 1000 rows", self.run_line(numbers.format(1001)))
        self.assertNotIn("rows,", self.run_line(numbers.format(40)))
        self.assertEqual(self.leave(), 0)

    def test_rows_of_writing_statements_are_all_written(self):
        self.start()
        self.run_line("CREATE TABLE t (a INTEGER);")
        self.run_line("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3000) "
                      "INSERT INTO t SELECT x FROM n RETURNING a;")
        self.assertIn("│ 3000 │", self.run_line("SELECT COUNT(*) AS n FROM t;"))
        self.assertEqual(self.leave(), 0)

    def test_wide_texts_are_cut_to_the_terminal(self):
        self.start(rows=50, columns=60)
        output = self.run_line(f"SELECT 1 AS a, '{'x' * 200}' AS b, 123456789012345 AS c;")
        table = [line for line in output.splitlines() if line.startswith(("│", "┌"))]
        self.assertEqual({len(line) for line in table}, {60})
        self.assertIn("x... │ 123456789012345 │", output)
        self.assertEqual(self.leave(), 0)

    def test_columns_that_do_not_fit_are_left_out(self):
        self.start(rows=50, columns=60)
        output = self.run_line("SELECT " + ", ".join(f"{n}00000000000 AS column_{n}" for n in range(1, 13)) + ";")
        rows = [line for line in output.splitlines() if line.startswith("│")]
        self.assertTrue(all(len(row) <= 60 and row.endswith("│ ... │") for row in rows), rows)
        self.assertRegex(output, r"12 columns, 3 shown \(\.mode line shows all\)")
        self.assertEqual(self.leave(), 0)

    def test_width_cuts_columns(self):
        self.start(rows=50, columns=200)
        self.run_line(".width 0 8")
        self.assertIn("│ abcdefghijkl │ mnopq... │", self.run_line("SELECT 'abcdefghijkl' AS a, 'mnopqrstuvwx' AS b;"))
        self.run_line(".width")
        self.assertIn("│ mnopqrstuvwx │", self.run_line("SELECT 'abcdefghijkl' AS a, 'mnopqrstuvwx' AS b;"))
        self.assertIn("width of a column", self.run_line(".width wide"))
        self.assertEqual(self.leave(), 0)

    def test_time_follows_its_result(self):
        self.start()
        self.run_line(".timer on")
        output = self.run_line("SELECT 40 + 2 AS answer;")
        self.assertLess(output.index("└"), output.index("Time: "))
        self.assertEqual(self.leave(), 0)


class Pager(Terminal):
    NUMBERS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 30) SELECT x FROM n;"

    def test_long_results_go_through_the_pager(self):
        pager = self.write("pager", "#!/bin/sh\necho pager begins\ncat\necho pager ends\n", 0o755)
        self.start(rows=24, columns=80, PAGER=str(pager))
        output = self.run_line(self.NUMBERS)
        self.assertLess(output.index("pager begins"), output.index("┌"))
        self.assertLess(output.index("│ 30 │"), output.index("pager ends"))
        self.assertNotIn("pager", self.run_line("SELECT 1 AS short;"))
        self.run_line(".pager off")
        output = self.run_line(self.NUMBERS)
        self.assertIn("│ 30 │", output)
        self.assertNotIn("pager begins", output)
        self.run_line(".pager on")
        self.assertIn("pager begins", self.run_line(".help"))
        self.assertEqual(self.leave(), 0)

    def test_a_pager_that_is_left_early(self):
        self.start(rows=24, columns=80, PAGER="head -n 3")
        self.run_line(".maxrows 0")
        numbers = self.NUMBERS.replace("LIMIT 30", "LIMIT 300000")
        self.run_line(numbers)
        self.assertIn("│     42 │", self.run_line("SELECT 40 + 2 AS answer;"))
        self.assertEqual(self.leave(), 0)

    def test_pagers_have_arguments(self):
        self.start(rows=24, columns=80)
        self.run_line(".pager sed s/^/paged/")
        self.assertIn("paged│", self.run_line(self.NUMBERS))
        self.assertEqual(self.leave(), 0)

    def test_a_pager_that_is_missing(self):
        self.start(rows=24, columns=80, PAGER="/no/such/pager")
        self.assertIn("there is no pager '/no/such/pager'", self.run_line(self.NUMBERS))
        self.assertIn("│     42 │", self.run_line("SELECT 40 + 2 AS answer;"))
        self.assertEqual(self.leave(), 0)


class Pasting(Terminal):
    def test_pasted_tabs_complete_nothing(self):
        self.start()
        self.run_line("CREATE TABLE population (a);")
        self.paste("SELECT 'popu\tx' AS\ta,\n\t'eins\t' AS b;\n")
        output = self.expect("└")
        self.expect("eindb> ")
        self.assertIn("│ popu\\tx │ eins\\t │", output)
        self.assertEqual(self.leave(), 0)

    def test_pasted_statements_run_when_they_are_complete(self):
        self.start()
        self.paste("CREATE TENSOR X AS\n  EINSUM X[i 3] =\n    i + 1;\nEINSUM s[] = SUM(X[i]);\nSELECT 'not yet")
        self.assertIn("│ 6.0 │", self.expect("'not yet"))
        self.type("' AS x;\n")
        self.assertIn("│ not yet │", self.expect("└"))
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)

    def test_commands_and_statements_are_pasted_together(self):
        self.start()
        self.paste(".mode csv\nSELECT 1 AS a, 2 AS b;\n.mode box\nSELECT 3 AS c;\n")
        output = self.expect("└")
        self.assertIn("a,b\r\n1,2\r\n", output)
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)

    def test_a_large_text_is_pasted_whole(self):
        """The statement is longer than the lines that a terminal holds for a program that does not read."""
        self.start()
        rows = ",\n".join(f"({n}, 'row\t{n}')" for n in range(3000))
        self.type(PASTE_BEGIN)
        text = f"SELECT COUNT(*) AS n, SUM(column1) AS s, MAX(column2) AS m FROM (VALUES {rows});\n".replace("\n", "\r")
        for begin in range(0, len(text), 1000):
            self.type(text[begin:begin + 1000])
            self.drain()
        self.type(PASTE_END)
        output = self.expect("└")
        self.assertIn("│ 3000 │ 4498500 │ row\\t999 │", output)
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)

    def drain(self):
        """Reads what is there, so that the terminal does not fill."""
        time.sleep(0.01)
        os.set_blocking(self.terminal, False)
        try:
            self.unread += os.read(self.terminal, 65536).decode(errors="replace")
        except BlockingIOError:
            pass
        finally:
            os.set_blocking(self.terminal, True)

    def test_ctrl_c_drops_the_remainder_of_a_paste(self):
        self.start()
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n;"
        self.paste(f"{endless}\nSELECT 'never' || 'theless' AS x;\n")
        self.expect("FROM n;\r\n")
        self.assertTrue(wait_until_computing(self.pid))
        self.type("\x03")
        self.expect("cancelled")
        self.expect("eindb> ")
        self.assertNotIn("nevertheless", self.run_line("SELECT 40 + 2 AS answer;"))
        self.assertEqual(self.leave(), 0)

    def test_text_of_any_alphabet(self):
        self.start()
        self.paste("SELECT 'größer, 日本語' AS x;\n")
        self.assertIn("│ größer, 日本語 │", self.expect("└"))
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)

    def test_with_the_keys_of_vi_nothing_is_marked(self):
        self.write(".editrc", "bind -v\n")
        self.start()
        output = self.run_line("SELECT 1 AS one;")
        self.assertIn("│   1 │", output)
        self.assertNotIn("2004", output)
        self.assertEqual(self.leave(), 0)

    def test_the_terminal_is_told_only_while_a_line_is_read(self):
        self.start()
        output = self.run_line("SELECT 1 AS one;")
        self.assertLess(output.index("\x1b[?2004l"), output.index("┌"))
        self.assertGreater(output.index("\x1b[?2004h"), output.index("└"))
        self.assertEqual(self.leave(), 0)


class History(Terminal):
    UP = "\x1b[A"

    def test_a_statement_of_several_lines_is_one_entry(self):
        self.start()
        self.type("SELECT 1 AS one,\n")
        self.expect("  ...> ")
        self.type("2 AS two;\n")
        self.expect("└")
        self.expect("eindb> ")
        self.run_line("SELECT 3 AS three;")
        self.type(self.UP + self.UP + "\n")
        self.assertIn("│ one │ two │", self.expect("└"))
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)
        # The next session has it, too.
        self.start()
        self.type(self.UP + "\n")
        self.assertIn("│ one │ two │", self.expect("└"))
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)


class Words(Terminal):
    def test_help_and_question_mark(self):
        self.start()
        for word in ("help", "HELP;", "?", " help "):
            self.assertIn(".maxrows N", self.run_line(word))
        self.assertEqual(self.leave(), 0)

    def test_exit_and_quit(self):
        for word in ("exit", "quit", "exit;", "QUIT"):
            self.start()
            self.type(word + "\n")
            self.assertEqual(self.wait_for_end(), 0)

    def test_within_a_statement_they_tell_how_to_get_out(self):
        self.start()
        self.type("SELECT\n")
        self.expect("  ...> ")
        self.type("exit\n")
        self.expect("Ctrl-C drops it")
        self.expect("  ...> ")
        self.type("\x03")
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)


class StartFile(Terminal):
    def test_it_runs_before_the_first_prompt(self):
        self.write(".eindbrc", ".mode csv\n.nullvalue nothing\nCREATE TEMP TABLE mine (a);\n")
        self.start()
        self.assertIn("a,b\r\n1,nothing\r\n", self.run_line("SELECT 1 AS a, NULL AS b;"))
        self.assertIn("n\r\n0\r\n", self.run_line("SELECT COUNT(*) AS n FROM mine;"))
        self.assertEqual(self.leave(), 0)

    def test_norc_leaves_it_out(self):
        self.write(".eindbrc", ".mode csv\n")
        self.start("--norc")
        self.assertIn("│ 1 │", self.run_line("SELECT 1 AS a;"))
        self.assertEqual(self.leave(), 0)

    def test_its_errors_do_not_end_the_session(self):
        self.write(".eindbrc", "SELECT nope;\n")
        self.start()
        self.assertIn("│ 1 │", self.run_line("SELECT 1 AS a;"))
        self.assertEqual(self.leave(), 0)


class Completing(Terminal):
    def test_paths(self):
        (self.folder / "data").mkdir()
        self.write("data/prices.csv", "a\n")
        self.write("job.sql", "SELECT 40 + 2 AS answer;\n")
        self.start()
        self.type("COPY X FROM 'da\t")
        self.expect("ta/")
        self.type("pr\t")
        self.expect("ices.csv'")
        self.run_line(";")
        self.type(".read jo\t")
        self.expect("b.sql ")
        self.type("\n")
        self.assertIn("42", self.expect("└"))
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)

    def test_settings(self):
        self.start()
        self.type("SET tile_b\t")
        self.expect("ytes ")
        self.type("= 4096;\n")
        self.expect("SET\r\n")
        self.expect("eindb> ")
        self.type("show tile_b\t")
        self.expect("ytes ")
        self.type(";\n")
        self.assertIn("4096", self.expect("└"))
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)

    def test_dot_commands(self):
        self.start()
        self.type(".data\t")
        self.expect("bases ")
        self.type("\n")
        self.assertIn("main", self.expect("└"))
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)


class Repeating(Terminal):
    def test_watch_repeats_the_last_statement(self):
        self.start()
        self.run_line("CREATE TABLE t (a);")
        self.run_line("INSERT INTO t VALUES (1) RETURNING (SELECT COUNT(*) FROM t) AS n;")
        output = self.run_line("\\watch 0.01 3")
        self.assertEqual(output.count("┌"), 3)
        self.assertIn("│ 4 │", self.run_line("SELECT COUNT(*) AS n FROM t;"))
        self.type(".watch 0.05\n")
        self.expect("│ 4 │")
        self.expect("│ 4 │")
        self.type("\x03")
        self.expect("eindb> ")
        self.assertEqual(self.leave(), 0)

    def test_edit_changes_the_last_statement_and_runs_it(self):
        editor = self.write("editor", "#!/bin/sh\nsed -i s/40/41/ \"$1\"\n", 0o755)
        self.start(EDITOR=str(editor))
        self.run_line("SELECT 40 + 2 AS answer;")
        self.assertIn("43", self.run_line("\\e"))
        self.assertNotIn("┌", self.run_line("\\e"))  # nothing was changed, and nothing runs
        self.type("\x1b[A\x1b[A")  # over \e to what was edited
        self.assertIn("43", self.run_line(""))
        self.assertEqual(self.leave(), 0)

    def test_open_goes_on_with_another_database(self):
        self.start("one.db")
        self.run_line("CREATE TENSOR First (i 2);")
        self.run_line(".open two.db")
        self.run_line("CREATE TENSOR Second (i 2);")
        output = self.run_line(".tables")
        self.assertIn("Second", output)
        self.assertNotIn("First", output)
        self.type("EINSUM Z[i] = Seco\t")
        self.expect("nd ")
        self.type("[i];\n")
        self.expect("└")
        self.expect("eindb> ")
        self.run_line(".open one.db")
        self.assertIn("First", self.run_line(".tables"))
        self.assertEqual(self.leave(), 0)


if __name__ == "__main__":
    unittest.main()
