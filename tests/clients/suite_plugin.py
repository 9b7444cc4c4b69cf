"""A plugin of pytest: notes each test of a suite in a file, ends those that hang, and runs no test twice.

$EINDB_SUITE_NOTES is the file, with a line of JSON where a test begins and where it ends: after a test that hung, or took
the interpreter with it, the suite goes on with the next one in another process. $EINDB_SUITE_SECONDS is how long a test
may take.
"""

import faulthandler
import json
import os

import pytest

NOTES = os.environ["EINDB_SUITE_NOTES"]
SECONDS = float(os.environ["EINDB_SUITE_SECONDS"])


def note(**entry):
    with open(NOTES, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def begun():
    if not os.path.exists(NOTES):
        return set()
    with open(NOTES, encoding="utf-8") as file:
        return {json.loads(line)["test"] for line in file}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    done = begun()
    items[:] = [item for item in items if item.nodeid not in done]


def pytest_collectreport(report):
    if report.failed:
        note(test=report.nodeid, outcome="failed", message=str(report.longrepr)[-400:])


class Outcome:
    """What the setup, the call and the teardown of the test that runs have given so far."""

    result = "passed"
    message = ""


def pytest_runtest_logstart(nodeid):
    Outcome.result, Outcome.message = "passed", ""
    note(test=nodeid)
    faulthandler.dump_traceback_later(SECONDS, exit=True)


def pytest_runtest_logreport(report):
    if report.outcome == "passed" or Outcome.result == "failed":
        return
    Outcome.result = report.outcome
    crash = getattr(report.longrepr, "reprcrash", None)
    Outcome.message = crash.message if crash else str(report.longrepr)


def pytest_runtest_logfinish(nodeid):
    faulthandler.cancel_dump_traceback_later()
    note(test=nodeid, outcome=Outcome.result, message=Outcome.message[:400])
