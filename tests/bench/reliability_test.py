#!/usr/bin/python3
"""Tests how `script/bench reliability` counts tries and failures in the output of programs, and how it reports a
program that fails."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/reliability")
sys.path.insert(0, BENCH)

import campaigns  # noqa: E402
import counts  # noqa: E402
from counts import Count  # noqa: E402

FIGURES = 13


class Lines(unittest.TestCase):
    def test_they_add_up(self):
        output = ("said before\nreliability io_faults tries=30 failed=1\n"
                  "reliability allocations case='server: select' calls=90 tries=25 done=3 failed=2\n")
        self.assertEqual(counts.lines(output), Count(55, 3))

    def test_times_beyond_a_time_out(self):
        output = "reliability a tries=3 failed=0 hung=0 beyond=0.5\nreliability b tries=4 failed=1 hung=1 beyond=2.5\n"
        self.assertEqual(counts.lines(output), Count(7, 1, 1, 2.5))

    def test_lines_that_unittest_has_begun(self):
        self.assertEqual(counts.lines(".reliability a tries=3 failed=0\nFFreliability a tries=4 failed=2\n"), Count(7, 2))

    def test_half_a_line_is_none(self):
        self.assertEqual(counts.lines("reliability a tries=3"), Count())
        self.assertEqual(counts.lines("a reliability b tries=3 failed=0"), Count())


class TestPrograms(unittest.TestCase):
    def test_googletest(self):
        output = ("[==========] Running 12 tests from 2 test suites.\n[==========] 12 tests from 2 test suites ran. (5 ms total)\n"
                  "[  PASSED  ] 9 tests.\n[  SKIPPED ] 1 test, listed below:\n[  FAILED  ] 2 tests, listed below:\n\n"
                  " 2 FAILED TESTS\n")
        self.assertEqual(counts.googletest(output), Count(11, 2))
        self.assertEqual(counts.googletest("[==========] Running 12 tests from 2 test suites.\n"), Count())

    def test_unittest(self):
        self.assertEqual(counts.unittest("Ran 1 test in 0.1s\n\nOK\n"), Count(1))
        self.assertEqual(counts.unittest("Ran 9 tests in 0.1s\n\nOK (skipped=2)\n"), Count(7))
        self.assertEqual(counts.unittest("Ran 9 tests in 1s\n\nFAILED (failures=1, errors=2)\n"), Count(9, 3))

    def test_scripts(self):
        self.assertEqual(counts.sqllogictest("9 files, 1200 cases, 3 failed\n"), Count(1200, 3))

    def test_fuzzing(self):
        self.assertEqual(counts.libfuzzer("#2\tINITED\n#500\tpulse\nDone 1000 runs in 3 second(s)\n"), Count(1000))
        output = "#2\tINITED\n#512\tNEW\n==7== ERROR: libFuzzer: deadly signal\nSUMMARY: libFuzzer: deadly signal\n"
        self.assertEqual(counts.libfuzzer(output), Count(512, 1))

    def test_nothing_at_all(self):
        for count in (counts.lines, counts.googletest, counts.unittest, counts.sqllogictest, counts.libfuzzer):
            self.assertEqual(count("").tries, 0)


class Judgement(unittest.TestCase):
    def test_a_program_that_tried_nothing_has_failed(self):
        self.assertEqual(Count().judged(0).failures, 1)

    def test_a_program_that_ends_badly_has_failed(self):
        self.assertEqual(Count(10).judged(1).failures, 1)
        self.assertEqual(Count(10).judged(None).failures, 1)
        self.assertEqual(Count(10, 3).judged(1).failures, 3)

    def test_a_program_that_ends_well_has_not(self):
        self.assertEqual(Count(10).judged(0), Count(10))


class Figures(unittest.TestCase):
    def test_each_size_has_all(self):
        for size in campaigns.SIZES:
            found = campaigns.figures("/build", size)
            self.assertEqual(len(found), FIGURES)
            for figure in found.values():
                self.assertTrue(figure.campaigns, figure.name)

    def test_the_tests_are_there(self):
        for figure in campaigns.figures("/build", "quick").values():
            for campaign in figure.campaigns:
                for word in campaign.command:
                    if word.startswith(campaigns.ROOT) and "/build-fuzz/" not in word:
                        self.assertTrue(os.path.exists(word), word)


class Program(unittest.TestCase):
    def test_a_figure_without_programs(self):
        """A figure whose programs do not exist counts as failed. The report names the folder of the logs."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, BENCH, "--quick", "--only", "brute_force", "--build", folder,
                                   "--logs", f"{folder}/logs", "--json", f"{folder}/json"],
                                  capture_output=True, text=True)  # fmt: skip
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("ran nothing", done.stdout)
            self.assertIn(f"{folder}/logs/brute_force", done.stdout)
            with open(f"{folder}/json") as file:
                self.assertEqual(json.load(file)["brute_force"]["failures"], 1)


if __name__ == "__main__":
    unittest.main()
