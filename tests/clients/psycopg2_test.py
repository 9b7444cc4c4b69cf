"""psycopg 2's own suite at eindb's server. Which of its tests may fail, and why, stands in psycopg2_failures.txt."""

import os
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server")]

import figures  # noqa: E402
import suites  # noqa: E402
from served import WithServer  # noqa: E402

try:
    import psycopg2
    import pytest  # noqa: F401
except ImportError:
    psycopg2 = None


def setUpModule():
    if psycopg2 is None:
        figures.missing("psycopg 2 with pytest")


class Suite(WithServer, suites.SuiteTest):
    script = ""

    def test_suite(self):
        folder = suites.source_of("psycopg2")
        self.addCleanup(folder.close)
        outcomes = suites.run_suite(folder, ["tests"], {
            "PSYCOPG2_TESTDB": "s", "PSYCOPG2_TESTDB_HOST": "127.0.0.1", "PSYCOPG2_TESTDB_USER": "ada",
            "PSYCOPG2_TESTDB_PORT": str(self.server.port),
        })  # fmt: skip
        self.check_suite("psycopg2", "psycopg2 suite", psycopg2.__version__.split()[0], outcomes)


if __name__ == "__main__":
    unittest.main(verbosity=2)
