"""Tests that the work of planning does not grow faster than the statement: statement_cost_test.py EINDB

Callgrind counts the instructions of the whole program, so neither the clock nor other load on the machine matters.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None

SETUP = """
CREATE TENSOR X (i 2);
CREATE TENSOR Y (i 2, j 2);
SET threads = 1;
"""
GROWTH = 8
# Linear work grows by GROWTH, sorting and trees by a little more, and work on pairs by GROWTH * GROWTH.
MOST_GROWTH = 12


def numbered(n, text, between=""):
    """`text` with each # replaced by 0, 1, 2, ..."""
    return between.join(text.replace("#", str(k)) for k in range(n))


def subscripts(n):
    operands = ",".join(f"[a{k},a{k + 1}]" for k in range(n))
    return f"EINSUM '{operands}' (" + ",".join(["Y"] * n) + ")"


class StatementCostTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.of_start = cls.instructions("SELECT 1")

    @staticmethod
    def instructions(statement):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.sql")
            with open(script, "w") as file:
                file.write(SETUP + statement + ";\n")
            run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", EINDB, ":memory:",
                                  "-f", script], capture_output=True, text=True, cwd=folder, timeout=600)  # fmt: skip
        collected = re.search(r"Collected : (\d+)", run.stderr)
        if collected is None or run.returncode not in (0, 1):
            raise AssertionError(run.stderr)
        return int(collected[1])

    def expect_in_proportion(self, statement, n):
        once = self.instructions(statement(n)) - self.of_start
        more = self.instructions(statement(GROWTH * n)) - self.of_start
        self.assertGreater(once, n)
        self.assertLess(more / once, MOST_GROWTH, f"{statement(2)} with {n} and {GROWTH * n}: {once} and {more}")

    def test_operators(self):
        for statement in [
            lambda n: "EINSUM z[i] = " + numbered(n, "X[i] > #", " AND "),
            lambda n: "EINSUM z[i] = " + numbered(n, "X[i] * #", " + "),
            lambda n: "EINSUM z[i] = GREATEST(0, " + numbered(n, "X[i] + #", ", ") + ")",
            lambda n: "EINSUM z[i] = CASE " + numbered(n, "WHEN X[i] > # THEN #", " ") + " ELSE 0 END",
        ]:
            with self.subTest(statement(2)):
                self.expect_in_proportion(statement, 200)

    def test_subscripts(self):
        self.expect_in_proportion(subscripts, 200)

    def test_brackets_of_sql(self):
        self.expect_in_proportion(lambda n: "SELECT " + "[" * n, 2000)
        self.expect_in_proportion(lambda n: "SELECT 1 " + "/* [ */" * n, 2000)


if __name__ == "__main__":
    unittest.main()
