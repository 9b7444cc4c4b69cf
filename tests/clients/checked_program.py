"""Tests of clients that are counted, and programs in other languages that are tests of clients.

Such a program prints "ok NAME" or "failed NAME: WHY" for each of its checks.
"""

import functools
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(FOLDER, "..", "server"))

import figures  # noqa: E402
from served import HANG_SECONDS, WithServer  # noqa: E402

SCRIPT = """
CREATE TENSOR X AS EINSUM X[i 3, j 4] = CAST(i * 4 + j AS FLOAT32) / 2;
CREATE TENSOR C AS EINSUM C[i 2] = COMPLEX(i, 1);
CREATE MACRO clip(x) AS CASE WHEN x < 0 THEN 0 ELSE x END;
CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL, score REAL);
CREATE INDEX notes_title ON notes (title);
CREATE TABLE child (a INTEGER, b INTEGER, note INTEGER REFERENCES notes (id), PRIMARY KEY (a, b));
CREATE VIEW titles AS SELECT id, title FROM notes;
INSERT INTO notes VALUES (1, 'one', 1.5), (2, 'two', 2.5);
"""


def run_checks(test, client, command, folder=None, excluded=None, **environment):
    """Runs the program, notes its figures and asserts that no check failed but those `excluded`, which are named with
    reasons. The program prints the client's version first: "version 42.5.5"."""
    done = subprocess.run(command, text=True, capture_output=True, timeout=HANG_SECONDS, cwd=folder,
                          env={**os.environ, **environment})  # fmt: skip
    version = re.search(r"^version (.*)$", done.stdout, re.MULTILINE)
    passed = re.findall(r"^ok (.+)$", done.stdout, re.MULTILINE)
    failed = re.findall(r"^failed .*$", done.stdout, re.MULTILINE)
    left_out = [line for line in failed if any(line.startswith(f"failed {name}: ") for name in excluded or ())]
    for name in set(excluded or ()) & set(passed):
        print(f"{client}: {name} works, and need not be excluded")
    wrong = [line for line in failed if line not in left_out]
    if passed or failed:
        figures.note(client, version.group(1) if version else "", passed=len(passed), failed=len(wrong),
                     excluded=len(left_out))  # fmt: skip
    test.assertEqual(wrong, [])
    test.assertEqual(done.returncode, 1 if failed else 0, done.stderr + done.stdout)
    test.assertTrue(passed, done.stdout + done.stderr)


def excluded(reason):
    """A test of a TestCase that is left out, visibly, as long as it fails."""

    def decorate(test):
        @functools.wraps(test)
        def attempt(self):
            try:
                test(self)
            except Exception as error:  # whatever the client raises
                self.skipTest(f"{reason}: {str(error).splitlines()[0]}")
            print(f"{self.id()} works, and need not be excluded")

        return attempt

    return decorate


class Counted(WithServer):
    """Tests that are the figures of `client`, whose version is `version`."""

    script = SCRIPT
    client = None
    version = ""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.outcomes = {"passed": 0, "failed": 0, "excluded": 0}

    @classmethod
    def tearDownClass(cls):
        figures.note(cls.client, cls.version, **cls.outcomes)
        super().tearDownClass()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors), len(result.skipped)
        super().run(result)
        if len(result.failures) + len(result.errors) > before[0]:
            self.outcomes["failed"] += 1
        else:
            self.outcomes["excluded" if len(result.skipped) > before[1] else "passed"] += 1
