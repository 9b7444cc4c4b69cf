#!/usr/bin/python3
"""history_test.py BUILD: tests when `script/bench history` takes a case for slower, and that its statements run."""
import importlib.util
import os
import subprocess
import sys
import unittest

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/history")
sys.path.insert(0, BENCH)


def program():
    spec = importlib.util.spec_from_file_location("history", os.path.join(BENCH, "__main__.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Changes(unittest.TestCase):
    def test_ratios(self):
        is_changed = program().is_changed
        self.assertEqual(is_changed([1.0] * 9), 0)
        self.assertEqual(is_changed([1.08] * 9), 1)
        self.assertEqual(is_changed([0.9] * 9), -1)
        self.assertEqual(is_changed([0.96, 0.97, 0.98, 1.0, 1.06, 1.07, 1.3, 1.4, 1.5]), 0)  # as often to the other side
        self.assertEqual(is_changed([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 9.0]), 0)  # the machine was disturbed
        self.assertEqual(is_changed([1.2]), 1)


class Runs(unittest.TestCase):
    build = ""

    def test_every_case(self):
        run = subprocess.run([sys.executable, BENCH, "--rounds", "1", "--cases", "8 x 8|planning|cells times cells|gather",
                              "--build", Runs.build, "--against", Runs.build], capture_output=True, text=True, check=False)
        self.assertIn(run.returncode, (0, 1), run.stderr)  # a busy machine may make one slower
        self.assertEqual(run.stderr.replace("slower: ", "").count("\n") > 1, False, run.stderr)
        self.assertEqual(run.stdout.count("of the earlier time"), 5, run.stdout)
        self.assertNotIn("planned", run.stdout)

    def test_no_such_case(self):
        run = subprocess.run([sys.executable, BENCH, "--cases", "no such"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("no case has 'no such' in its name", run.stderr)


if __name__ == "__main__":
    Runs.build = sys.argv.pop(1)
    unittest.main()
