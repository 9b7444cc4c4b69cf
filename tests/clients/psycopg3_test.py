"""psycopg 3's own suite at eindb's server. Which of its tests may fail, and why, stands in psycopg3_failures.txt."""

import os
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server")]

import figures  # noqa: E402
import suites  # noqa: E402
from served import WithServer  # noqa: E402

try:
    import psycopg
    import pytest_asyncio  # noqa: F401
except ImportError:
    psycopg = None


def setUpModule():
    if psycopg is None:
        figures.missing("psycopg 3 with pytest-asyncio")


# Left out: tests of time, of other packages than psycopg, of type checkers, and of CockroachDB.
ARGUMENTS = [
    "tests", "-o", "asyncio_mode=auto", "-m", "not timing and not flakey and not slow and not crdb",
    "--ignore=tests/pool", "--ignore=tests/crdb", "--ignore=tests/test_typing.py", "--ignore=tests/test_dns.py",
    "--ignore=tests/test_dns_srv.py",
]  # fmt: skip


class Suite(WithServer, suites.SuiteTest):
    script = ""

    def test_suite(self):
        folder = suites.source_of("psycopg3")
        self.addCleanup(folder.close)
        dsn = f"host=127.0.0.1 port={self.server.port} user=ada dbname=s"
        outcomes = suites.run_suite(folder, ARGUMENTS, {"PSYCOPG_TEST_DSN": dsn})
        self.check_suite("psycopg3", "psycopg 3 suite", psycopg.__version__, outcomes)


if __name__ == "__main__":
    unittest.main(verbosity=2)
