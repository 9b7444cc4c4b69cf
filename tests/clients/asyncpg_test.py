"""asyncpg's own suite at eindb's server. Which of its tests may fail, and why, stands in asyncpg_failures.txt."""

import os
import sys
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server")]

import figures  # noqa: E402
import suites  # noqa: E402
from served import WithServer  # noqa: E402

try:
    import asyncpg
    import pytest  # noqa: F401
except ImportError:
    asyncpg = None


def setUpModule():
    if asyncpg is None:
        figures.missing("asyncpg with pytest")


# Left out: tests of asyncpg's own source text.
ARGUMENTS = ["tests", "--ignore=tests/test__sourcecode.py", "--ignore=tests/test__environment.py"]


class Suite(WithServer, suites.SuiteTest):
    script = ""

    def test_suite(self):
        folder = suites.source_of("asyncpg")
        self.addCleanup(folder.close)
        outcomes = suites.run_suite(folder, ARGUMENTS, {
            "PGHOST": "127.0.0.1", "PGPORT": str(self.server.port), "PGUSER": "ada", "PGDATABASE": "s",
        })  # fmt: skip
        self.check_suite("asyncpg", "asyncpg suite", asyncpg.__version__, outcomes)


if __name__ == "__main__":
    unittest.main(verbosity=2)
