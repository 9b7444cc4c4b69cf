"""Statements in which one construct is repeated up to a hundred thousand times. Each is answered, refused with a clear
error, or ended by its statement_timeout. No statement ends the server or the shell.

    large_statements_test.py EINDB

EINDB_LARGE_SCALE=1 tries the full sizes (default 0.1 of them), EINDB_LARGE_ONLY='sql.*' selects constructs.
"""

import os
import re
import resource
import subprocess
import tempfile
import unittest

import psycopg

from served import EINDB, Server

SCALE = float(os.environ.get("EINDB_LARGE_SCALE", "0.1"))
ONLY = os.environ.get("EINDB_LARGE_ONLY", ".*")
# Most systems have this limit.
STACK_BYTES = 8 << 20
TIMEOUT = "1s"
# A statement that takes longer hangs, even on a slow machine.
HANGS_SECONDS = 240

SCRIPT = """
CREATE TENSOR X (i 2); INSERT INTO TENSOR X VALUES (0, 1), (1, 2);
CREATE TENSOR Y (i 2, j 2); INSERT INTO TENSOR Y VALUES (0, 0, 1), (1, 1, 2);
CREATE MACRO twice(x) AS x + x; CREATE MACRO four(x) AS twice(twice(x)); CREATE MACRO many(x) AS four(four(four(x)));
CREATE USER ada PASSWORD 'secret' ADMIN; CREATE USER eve PASSWORD 'secret' READ ONLY;
"""


def times(n, text, between=""):
    return between.join([text] * n)


def numbered(n, text, between=""):
    """`text` with each # replaced by 0, 1, 2, ..."""
    return between.join(text.replace("#", str(k)) for k in range(n))


def chain(n, link, end):
    """WITH d0 ..., d1 from d0, ...: in `link` # is the number of a definition, and ~ that of the previous one."""
    links = "".join(link.replace("#", str(k)).replace("~", str(k - 1)) for k in range(1, n))
    return f"WITH d0[i] = X[i]{links} {end.replace('#', str(n - 1))}"


# name: (a function that makes a statement of a size, the size)
EINSUMS = {
    **{f"chain {op}": (lambda n, op=op: "EINSUM z[i] = " + times(n, "X[i]", op), 100_000)
       for op in ("+", "-", "*", "/", "%", "^", " AND ", " OR ", " = ")},
    "chain of * and /": (lambda n: "EINSUM z[i] = X[i]" + times(n, " * X[i] / 3"), 100_000),
    "sum of distinct terms": (lambda n: "EINSUM z[i] = " + numbered(n, "X[i] * #", " + "), 100_000),
    "AND of distinct terms": (lambda n: "EINSUM z[i] = " + numbered(n, "X[i] > #", " AND "), 100_000),
    "SUM of differences": (lambda n: "EINSUM z[] = SUM(X[i]" + numbered(n, " - Y[j,k] * #") + ")", 20_000),
    "cells": (lambda n: "EINSUM z[] = " + times(n, "X[0] + X[1]", " + "), 50_000),
    "CASE": (lambda n: "EINSUM z[i] = CASE " + times(n, "WHEN X[i] > 0 THEN 1 ") + "ELSE 0 END", 100_000),
    "CASE of distinct branches": (lambda n: "EINSUM z[i] = CASE " + numbered(n, "WHEN X[i] > # THEN # ") + "ELSE 0 END",
                                  100_000),
    "CASE of a subject": (lambda n: "EINSUM z[i] = CASE X[i] " + numbered(n, "WHEN # THEN # ") + "ELSE 0 END", 100_000),
    "CASE of three operands": (lambda n: "EINSUM z[i] = CASE " + numbered(n, "WHEN X[i] > # THEN Y[i,0] ") +
                               "ELSE Y[i,i] END", 100_000),
    "CASE in THEN": (lambda n: "EINSUM z[i] = " + times(n, "CASE WHEN X[i] > 0 THEN ") + "1" + times(n, " ELSE 0 END"),
                     100_000),
    "CASE in ELSE": (lambda n: "EINSUM z[i] = " + times(n, "CASE WHEN X[i] > 0 THEN 1 ELSE ") + "1" + times(n, " END"),
                     100_000),
    "parentheses": (lambda n: "EINSUM z[i] = " + "(" * n + "X[i]" + ")" * n, 100_000),
    "open parentheses": (lambda n: "EINSUM z[i] = " + "(" * n, 100_000),
    "minus": (lambda n: "EINSUM z[i] = " + "- " * n + "X[i]", 100_000),
    "plus": (lambda n: "EINSUM z[i] = " + "+ " * n + "X[i]", 100_000),
    "NOT": (lambda n: "EINSUM z[i] = " + "NOT " * n + "X[i]", 100_000),
    "functions": (lambda n: "EINSUM z[i] = " + "ABS(" * n + "X[i]" + ")" * n, 100_000),
    "CAST": (lambda n: "EINSUM z[i] = " + "CAST(" * n + "X[i]" + " AS FLOAT32)" * n, 100_000),
    "aggregates in each other": (lambda n: "EINSUM z[] = " + "SUM(" * n + "X[i]" + ")" * n, 100_000),
    "aggregates side by side": (lambda n: "EINSUM z[] = " + numbered(n, "SUM(X[i] * #)", " + "), 20_000),
    "arguments": (lambda n: "EINSUM z[i] = GREATEST(" + numbered(n, "X[i] + #", ", ") + ")", 100_000),
    "arguments of many labels": (lambda n: "EINSUM z[] = MAX(GREATEST(" + numbered(n, "X[a#]", ", ") + "))", 20_000),
    "labels": (lambda n: "EINSUM z[" + numbered(n, "a# 1", ", ") + "] = 1", 100_000),
    "labels of extent 2": (lambda n: "EINSUM z[" + numbered(n, "a# 2", ", ") + "] = 1", 100_000),
    "label values": (lambda n: "EINSUM z[" + numbered(n, "a# 1", ", ") + "] = " + numbered(n, "a#", " + "), 1_000),
    "aggregated labels": (lambda n: "EINSUM z[] = SUM(" + numbered(n, "X[a#]", " + ") + ")", 20_000),
    "aggregated labels of a product": (lambda n: "EINSUM z[] = SUM(" + numbered(n, "X[a#]", " * ") + ")", 20_000),
    "constants": (lambda n: "EINSUM z = " + times(n, "1.5", " + "), 100_000),
    "macros": (lambda n: "EINSUM z[i] = " + times(n, "many(") + "X[i]" + ")" * n, 3),
    "indices": (lambda n: "EINSUM z[i] = X[" + times(n, "i", ", ") + "]", 100_000),
    "WITH": (lambda n: chain(n, ", d#[i] = d~[i] / 2 + X[i]", "EINSUM z[i] = d#[i]"), 100_000),
    "WITH of sums": (lambda n: chain(n, ", d#[i] = SUM(d~[j] * Y[i,j])", "EINSUM z[i] = d#[i]"), 100_000),
    "WITH that doubles": (lambda n: chain(n, ", d#[i] = d~[i] * d~[i]", "EINSUM z[i] = d#[i]"), 100_000),
    "WITH of many": (lambda n: "WITH " + numbered(n, "d#[i] = X[i] + #", ", ") + " EINSUM z[i] = " +
                     numbered(n, "d#[i]", " + "), 20_000),
    "outputs": (lambda n: "WITH " + numbered(n, "d#[i] = X[i] + #", ", ") + " EINSUM (" + numbered(n, "d#", ", ") + ")",
                20_000),
    "subscripts": (lambda n: "EINSUM '" + ",".join(f"[a{k},a{k + 1}]" for k in range(n)) + "' (" + times(n, "Y", ",") +
                   ")", 100_000),
    "subscripts of one label": (lambda n: "EINSUM '" + numbered(n, "[a,a#]", ",") + "->[a]' (" + times(n, "Y", ",") + ")",
                                100_000),
    "equal subscripts": (lambda n: "EINSUM '" + times(n, "ij", ",") + "->i' (" + times(n, "Y", ",") + ")", 100_000),
    "nested subscripts": (lambda n: "EINSUM '" + "(" * n + "ij" + ",jk)" * n + "->ik' (" + times(n + 1, "Y", ",") + ")",
                          100_000),
    "a path": (lambda n: "EINSUM z[] = SUM(" + numbered(n, "X[a#]", "*") + ") USING PATH (" + times(n - 1, "(0,1)", ",") +
               ")", 20_000),
    "path from the left": (lambda n: "EINSUM z[] = SUM(" + numbered(n, "X[a#]", "*") + ") USING PATH 'left'", 20_000),
    "gradient of definitions": (lambda n: chain(n, ", d#[i] = SIN(d~[i]) + X[i]",
                                                "GRADIENT OF L[] = SUM(d#[i]) WITH RESPECT TO (X)"), 20_000),
    "gradient of a product": (lambda n: "GRADIENT OF L[] = SUM(" + times(n, "X[i]", "*") + ") WITH RESPECT TO (X)", 20_000),
    "gradient of a quotient": (lambda n: "GRADIENT OF L[] = SUM(" + times(n, "X[i]", "/") + ") WITH RESPECT TO (X)", 20_000),
    "gradient of a CASE": (lambda n: "GRADIENT OF L[] = SUM(CASE " + numbered(n, "WHEN X[i] > # THEN X[i] * # ") +
                           "ELSE 0 END) WITH RESPECT TO (X)", 20_000),
}

OTHERS = {
    "brackets": (lambda n: "SELECT " + "[" * n, 100_000),
    "brackets that close": (lambda n: "SELECT " + "[" * n + "a]", 100_000),
    "parentheses": (lambda n: "SELECT " + "(" * n + "1" + ")" * n, 100_000),
    "open parentheses": (lambda n: "SELECT " + "(" * n, 100_000),
    "comments": (lambda n: "SELECT 1 " + "/**/" * n, 100_000),
    "open comments": (lambda n: "SELECT 1 " + "/*" * n, 100_000),
    "lines of comment": (lambda n: "SELECT 1 " + "--\n" * n, 100_000),
    "dashes": (lambda n: "SELECT 1 " + "--" * n, 100_000),
    **{f"quotes {quote}": (lambda n, quote=quote: "SELECT " + quote * n, 100_001) for quote in "'\"`"},
    "E strings": (lambda n: "SELECT " + "E'" * n, 100_000),
    "dollars": (lambda n: "SELECT " + "$" * n, 100_001),
    "dollar quotes": (lambda n: "SELECT " + "$a$" * n, 100_001),
    "dollar quotes that differ": (lambda n: "SELECT " + numbered(n, "$a#$", " "), 50_000),
    "casts": (lambda n: "SELECT 1" + "::int" * n, 100_000),
    "matches": (lambda n: "SELECT 'a'" + " ~ 'a'" * n, 20_000),
    "ILIKE": (lambda n: "SELECT 'a'" + " ILIKE 'a'" * n, 20_000),
    "ANY": (lambda n: "SELECT 1" + " = ANY (ARRAY[1])" * n, 20_000),
    "OR": (lambda n: "SELECT " + times(n, "1", " OR "), 100_000),
    "NOT": (lambda n: "SELECT " + "NOT " * n + "1", 100_000),
    "minus": (lambda n: "SELECT " + "- " * n + "1", 100_000),
    "CASE": (lambda n: "SELECT CASE " + "WHEN 1 THEN 2 " * n + "END", 100_000),
    "columns": (lambda n: "SELECT " + times(n, "1", ","), 100_000),
    "IN": (lambda n: "SELECT 1 IN (" + times(n, "1", ",") + ")", 100_000),
    "UNION": (lambda n: times(n, "SELECT 1", " UNION ALL "), 100_000),
    "subqueries": (lambda n: "SELECT * FROM (" * n + "SELECT 1" + ")" * n, 100_000),
    "WITH": (lambda n: "WITH " + numbered(n, "d# AS (SELECT 1)", ", ") + " SELECT 1", 20_000),
    "WITH that doubles": (lambda n: "WITH d0 AS (SELECT 1 AS a)" + "".join(
        f", d{k} AS (SELECT x.a FROM d{k - 1} AS x, d{k - 1} AS y)" for k in range(1, n)) + f" SELECT a FROM d{n - 1}", 40),
    "WITH in WITH": (lambda n: "WITH a AS (" * n + "SELECT 1" + ") SELECT 1" * n, 20_000),
    "EINSUM in SQL": (lambda n: "SELECT * FROM " + times(n, "(EINSUM z[i] = X[i])", ", "), 10_000),
    "parentheses around an EINSUM": (lambda n: "SELECT * FROM " + "(" * n + "EINSUM z[i] = X[i]" + ")" * n, 100_000),
    "semicolons": (lambda n: ";" * n, 100_000),
    "braces": (lambda n: "{" * n, 100_000),
    "loops": (lambda n: "REPEAT 1 {" * n + "SELECT 1" + "}" * n, 100_000),
    "open loops": (lambda n: "REPEAT 1 {" * n, 100_000),
    "PREPARE": (lambda n: "PREPARE p AS " * n + "SELECT 1", 100_000),
    "EXPLAIN": (lambda n: "EXPLAIN " * n + "SELECT 1", 100_000),
    "a name": (lambda n: "SELECT * FROM " + "x" * n, 1_000_000),
    "a number": (lambda n: "EINSUM z = 1" + "0" * n + ".5", 1_000_000),
    "a string": (lambda n: "EINSUM '" + "x" * n + "' (X)", 1_000_000),
    "COPY": (lambda n: "COPY (" * n + "SELECT 1" + ") TO STDOUT" * n, 20_000),
    "names with points": (lambda n: "SELECT " + times(n, "a", "."), 100_000),
}


def statements(makers, scale=SCALE):
    for name, (make, size) in makers.items():
        if re.fullmatch(ONLY, name):
            yield name, make(max(1, int(size * scale)))


def limit_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, STACK_BYTES))


class InTheServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        limit_stack()
        cls.server = Server(SCRIPT, ("--memory-limit", "1GB"))

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def connect(self):
        arguments = self.server.arguments(user="eve", password="secret", options=f"-c statement_timeout={TIMEOUT}")
        return psycopg.connect(**arguments, autocommit=True)

    def try_out(self, statement):
        """The server answers with rows or an error. It must not hang or end."""
        with self.connect() as connection:
            watch = subprocess.Popen(["sleep", str(HANGS_SECONDS)])
            try:
                with connection.cursor() as cursor:
                    cursor.execute(statement)
            except psycopg.OperationalError as error:
                self.assertFalse(connection.closed, error)
            except psycopg.Error as error:
                self.assertNotIn("internal error", str(error))
                self.assertNotEqual(error.sqlstate, "XX000", error)
            finally:
                self.assertIsNone(watch.poll(), "it took longer than a hang")
                watch.kill()
                watch.wait()
        self.assertIsNone(self.server.process.poll(), "the server has ended")

    def test_einsums(self):
        for name, statement in statements(EINSUMS):
            with self.subTest(name):
                self.try_out(statement)

    def test_plans(self):
        for name, statement in statements(EINSUMS, SCALE / 10):
            for form in ("text", "json", "dot"):
                with self.subTest(f"{name}, {form}"):
                    self.try_out(f"EXPLAIN (FORMAT {form}) {statement}")

    def test_other_statements(self):
        for name, statement in statements(OTHERS):
            with self.subTest(name):
                self.try_out(statement)


class InTheShell(unittest.TestCase):
    def test_all(self):
        with tempfile.TemporaryDirectory() as folder:
            database = os.path.join(folder, "s.db")
            subprocess.run([EINDB, database], input=SCRIPT, text=True, check=True, stdout=subprocess.DEVNULL)
            for name, statement in statements(EINSUMS | OTHERS):
                with self.subTest(name):
                    run = subprocess.run([EINDB, database], input=f"SET statement_timeout = '{TIMEOUT}';\n{statement};\n",
                                         text=True, capture_output=True, timeout=HANGS_SECONDS, preexec_fn=limit_stack)
                    self.assertIn(run.returncode, (0, 1), run.stderr[:200])
                    self.assertNotIn("internal error", run.stderr)


if __name__ == "__main__":
    unittest.main()
