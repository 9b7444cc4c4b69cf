"""SQLAlchemy's compliance suite for dialects (sqlalchemy.testing.suite) with its dialect for PostgreSQL."""

import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))

import figures  # noqa: E402
from served import Server  # noqa: E402
from sqlalchemy_exclusions import CLOSED, DIFFERS, REFUSED  # noqa: E402
from waiting import HANG_SECONDS  # noqa: E402

try:
    import psycopg2  # noqa: F401
    import pytest  # noqa: F401
    import sqlalchemy
    import sqlalchemy.testing  # noqa: F401
except ImportError:
    sqlalchemy = None

CONFTEST = """
import pytest
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")
from sqlalchemy.testing.plugin.pytestplugin import *
"""
SETUP = """
[tool:pytest]
python_files = test_*.py
[sqla_testing]
requirement_cls = requirements_of_eindb:Requirements
profile_file = profiles.txt
"""
# What PostgreSQL has beyond the suite's least common denominator.
OPEN = """
autocommit boolean_col_expressions check_constraint_reflection comment_reflection computed_columns
computed_columns_default_persisted computed_columns_reflect_persisted computed_columns_stored
cross_schema_fk_reflection ctes ctes_on_dml ctes_with_update_delete date_historic datetime_historic datetime_timezone
default_schema_name_switch deferrable_fks delete_from except_ fetch_expression fetch_first fetch_no_order_by fetch_ties
fk_constraint_option_reflection_ondelete_noaction fk_constraint_option_reflection_ondelete_restrict
fk_constraint_option_reflection_onupdate_restrict foreign_key_constraint_name_reflection
foreign_key_constraint_option_reflection_ondelete foreign_key_constraint_option_reflection_onupdate has_temp_table
identity_columns identity_columns_standard implicit_default_schema index_ddl_if_exists index_reflects_included_columns
indexes_with_expressions infinity_floats intersect isolation_level json_type mod_operator_as_percent_sign nullsordering
precision_numerics_enotation_large precision_numerics_enotation_small precision_numerics_many_significant_digits
precision_numerics_retains_significant_digits reflect_tables_no_columns reflects_pk_names regexp_match regexp_replace
savepoints schemas sequences standalone_binds supports_distinct_on table_ddl_if_exists table_value_constructor
temporary_views time_timezone timestamp_microseconds tuple_in two_phase_transactions unicode_ddl update_from views
window_functions
"""
# The levels of isolation are those that SHOW TRANSACTION ISOLATION LEVEL tells: transactions are always serializable.
REQUIREMENTS = """
from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

class Requirements(SuiteRequirements):
    def get_isolation_levels(self, config):
        return {{"default": "SERIALIZABLE", "supported": ["SERIALIZABLE", "AUTOCOMMIT"]}}

    def get_order_by_collation(self, config):
        return "POSIX"

for name in {open}:
    setattr(Requirements, name, property(lambda self: exclusions.open()))
for name in {closed}:
    setattr(Requirements, name, property(lambda self: exclusions.closed()))
"""


def name_of(case):
    """Class.test[parameters] of a test, without the part that names the database."""
    return re.sub(r"_postgresql\S*$", "", case.get("classname").rsplit(".", 1)[-1]) + "." + case.get("name")


class Outcome:
    """The outcomes of the suite by the names of its tests."""

    def __init__(self, report):
        self.passed, self.skipped, self.failed = [], [], {}
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            broken = [part for part in case if part.tag in ("failure", "error")]
            if broken:
                # A test whose teardown fails too is listed once.
                self.failed[name_of(case)] = "\n".join(part.text or "" for part in broken)
            elif case.find("skipped") is not None:
                self.skipped.append(name_of(case))
            else:
                self.passed.append(name_of(case))

    def matching(self, pattern):
        return [name for name in self.failed if fnmatch.fnmatchcase(name, pattern)]


class ComplianceSuite(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if sqlalchemy is None:
            figures.missing("SQLAlchemy with pytest")
        cls.server = Server(script="")
        cls.folder = tempfile.TemporaryDirectory()
        needed = sorted(set(OPEN.split()) - set(CLOSED))
        for name, text in (
            ("conftest.py", CONFTEST),
            ("setup.cfg", SETUP),
            ("requirements_of_eindb.py", REQUIREMENTS.format(open=needed, closed=sorted(CLOSED))),
            ("test_suite.py", "from sqlalchemy.testing.suite import *\n"),
        ):
            with open(os.path.join(cls.folder.name, name), "w", encoding="utf-8") as file:
                file.write(text)
        report = os.path.join(cls.folder.name, "report.xml")
        uri = f"postgresql+psycopg2://ada@127.0.0.1:{cls.server.port}/s"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:logging", "--tb=short"]
        ran = subprocess.run(
            [*command, f"--junitxml={report}", "--dburi", uri, "test_suite.py"],
            cwd=cls.folder.name, text=True, capture_output=True, timeout=HANG_SECONDS,
        )  # fmt: skip
        if not os.path.exists(report):
            raise AssertionError(ran.stdout + ran.stderr)
        cls.outcome = Outcome(report)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.folder.cleanup()

    def test_nothing_fails_but_what_is_excluded(self):
        excluded = [name for pattern, _ in REFUSED + DIFFERS for name in self.outcome.matching(pattern)]
        unexpected = {name: text[-2000:] for name, text in self.outcome.failed.items() if name not in excluded}
        figures.note(
            "SQLAlchemy", sqlalchemy.__version__, passed=len(self.outcome.passed), failed=len(unexpected),
            excluded=len(set(excluded)), skipped=len(self.outcome.skipped),
        )  # fmt: skip
        self.assertGreater(len(self.outcome.passed), 400)
        self.assertEqual(unexpected, {})

    def test_no_exclusion_is_out_of_date(self):
        self.assertEqual([pattern for pattern, _ in REFUSED + DIFFERS if not self.outcome.matching(pattern)], [])

    def test_what_is_refused_is_an_error_of_the_server(self):
        silent = [
            name
            for pattern, _ in REFUSED
            for name in self.outcome.matching(pattern)
            if "psycopg2.errors." not in self.outcome.failed[name]
        ]
        self.assertEqual(silent, [])


if __name__ == "__main__":
    unittest.main()
