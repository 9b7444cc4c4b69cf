"""Suites of others: where they come from, how they are run, and which of their tests may fail.

A suite is the tests folder of a Debian source package. It lies in a folder NAME-VERSION of $EINDB_CLIENT_SUITES, or
`apt-get source` fetches it, from where this machine has its programs from. EINDB_SUITE_FAILURES=1 prints all failures by
their messages, also of tests that may fail; EINDB_SUITE_LIST=1 writes the list of tests that may fail anew, with what is
not explained at its end; EINDB_SUITE_ONLY='test_copy' runs the tests with that in their names.
"""

import collections
import glob
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

import figures

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 60  # for each test
RESTARTS = 100  # after tests that hung


class Folder:
    """A temporary folder that _apt, too, may read."""

    def __init__(self):
        self.keeper = tempfile.TemporaryDirectory()
        self.path = self.keeper.name
        os.chmod(self.path, 0o755)
        self.close = self.keeper.cleanup


def download(package, folder):
    """Downloads the source package from the archives of the machine's own packages, whose sources it may not list."""
    lists = os.path.join(folder, "lists")
    os.makedirs(os.path.join(lists, "partial"))
    sources = os.path.join(folder, "sources.list")
    line = "deb-src [signed-by=$(SIGNED_BY)] $(REPO_URI) $(RELEASE) $(COMPONENT)"
    targets = subprocess.run(["apt-get", "indextargets", "--format", line, "Identifier: Packages"],
                             capture_output=True, text=True, check=True).stdout  # fmt: skip
    for unsaid in ("[signed-by=] ", "[signed-by=$(SIGNED_BY)] "):  # an older apt leaves the name of what it does not know
        targets = targets.replace(unsaid, "")
    with open(sources, "w", encoding="utf-8") as file:
        file.write("\n".join(sorted(set(targets.splitlines()))) + "\n")
    own = ["-q", "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-", "-o",
           f"Dir::State::lists={lists}", "-o", f"Dir::Cache={folder}", "-o", "Debug::NoLocking=1"]  # fmt: skip
    for command in (["update"], ["source", "--download-only", package]):
        done = subprocess.run(["apt-get", *own, *command], cwd=folder, capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise unittest.SkipTest(f"the source of {package} cannot be had: {done.stderr.strip()[-300:]}")
    return glob.glob(os.path.join(folder, f"{package}_*.orig.tar.*"))[0]


def source_of(package):
    """A folder with the tests of the package, and what keeps it."""
    folder = Folder()
    if given := os.environ.get("EINDB_CLIENT_SUITES"):
        found = glob.glob(os.path.join(given, f"{package}-*"))
        if not found:
            raise unittest.SkipTest(f"$EINDB_CLIENT_SUITES has no {package}")
        os.symlink(os.path.join(os.path.abspath(found[0]), "tests"), os.path.join(folder.path, "tests"))
        return folder
    if not os.environ.get("EINDB_ALL_CLIENTS"):
        raise unittest.SkipTest("script/test clients downloads and runs the suites of clients")
    with tarfile.open(download(package, folder.path)) as archive:
        members = [member for member in archive.getmembers() if member.name.split("/")[1:2] == ["tests"]]
        for member in members:
            member.name = member.name.split("/", 1)[1]
        archive.extractall(folder.path, members)
    return folder


def listed_failures(name):
    """The tests that may fail, as (reason, pattern); a # begins a reason, which holds for the lines that follow."""
    reason, patterns = "", []
    with open(os.path.join(HERE, f"{name}_failures.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("#"):
                reason = line[1:].strip()
            elif line.strip():
                patterns.append((reason, re.compile(re.escape(line.strip()).replace(r"\*", ".*"))))
    return patterns


def write_list(name, failures):
    """Writes the list without what fails no longer, and with what is not listed at its end, to be explained."""
    listed = listed_failures(name)
    reasons = collections.defaultdict(list)
    unlisted = set()
    for test in sorted(failures):
        reason, pattern = next(((r, p) for r, p in listed if p.fullmatch(test)), ("", None))
        if pattern is None:
            unlisted.add(re.sub(r"\[.*", "[*", test))
        elif (text := pattern.pattern.replace(".*", "*").replace("\\", "")) not in reasons[reason]:
            reasons[reason].append(text)
    reasons["Not explained yet."] += sorted(unlisted)
    with open(os.path.join(HERE, f"{name}_failures.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(f"# {reason}\n" + "\n".join(tests) + "\n" for reason, tests in reasons.items() if tests))


def read_notes(path):
    """The outcome of each test: passed, failed or skipped, and a message; (failed, ...) for one that did not end."""
    outcomes = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            outcomes[entry["test"]] = (entry.get("outcome", "failed"), entry.get("message", "it did not end"))
    return outcomes


def run_suite(folder, arguments, environment):
    """Runs all tests of the suite, with pytest, and gives their outcomes."""
    notes = os.path.join(folder.path, "notes")
    command = [sys.executable, "-m", "pytest", "-p", "suite_plugin", "--cache-clear", "-q", "--tb=short", *arguments]
    if only := os.environ.get("EINDB_SUITE_ONLY"):
        command += ["-k", only]
    ambient = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    ambient |= {"PYTHONPATH": HERE, "PYTHONDONTWRITEBYTECODE": "1", "EINDB_SUITE_NOTES": notes,
                "EINDB_SUITE_SECONDS": str(SECONDS), **environment}  # fmt: skip
    for _ in range(RESTARTS):
        done = subprocess.run(command, cwd=folder.path, env=ambient, capture_output=True, text=True)
        outcomes = read_notes(notes) if os.path.exists(notes) else {}
        unended = "it did not end" in (message for _, message in list(outcomes.values())[-1:])
        if not unended:
            break
    if not outcomes:
        raise AssertionError(f"the suite ran no test: {(done.stdout + done.stderr)[-4000:]}")
    return outcomes


def first_line(message):
    """The message without what differs from test to test."""
    line = (message.strip().splitlines() or [""])[0]
    return re.sub(r"0x[0-9a-f]+|\d+", "N", line)[:150]


def print_by_message(failures):
    groups = collections.defaultdict(list)
    for test, message in failures.items():
        groups[first_line(message)].append(test)
    for message, tests in sorted(groups.items(), key=lambda group: -len(group[1])):
        print(f"{len(tests)} x {message}")
        for test in tests:
            print(f"    {test}")


class SuiteTest:
    """Runs a suite and compares its failures with those that are listed. A base of a unittest.TestCase."""

    def check_suite(self, name, client, version, outcomes):
        failures = {test: message for test, (result, message) in outcomes.items() if result == "failed"}
        if os.environ.get("EINDB_SUITE_FAILURES"):
            print_by_message(failures)
        if os.environ.get("EINDB_SUITE_LIST"):
            write_list(name, failures)
        counts = collections.Counter(result for result, _ in outcomes.values())
        listed = listed_failures(name)
        unlisted = {
            test: message for test, message in failures.items()
            if not any(pattern.fullmatch(test) for _, pattern in listed)
        }  # fmt: skip
        unused = [pattern.pattern for _, pattern in listed if not any(pattern.fullmatch(test) for test in failures)]
        figures.note(client, version, passed=counts["passed"], failed=counts["failed"], skipped=counts["skipped"])
        reasons = collections.Counter(
            next((reason for reason, pattern in listed if pattern.fullmatch(test)), "not listed") for test in failures
        )
        for reason, count in reasons.most_common():
            print(f"  {count} fail: {reason}")
        if unused and not os.environ.get("EINDB_SUITE_ONLY"):
            print("listed, and fail no longer:", *unused, sep="\n  ")
        unexpected = "\n".join(f"{test}: {first_line(message)}" for test, message in unlisted.items())
        self.assertEqual(unexpected, "", f"{len(unlisted)} tests fail that are not listed")
