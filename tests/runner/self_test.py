"""Tests the script runner: self_test.py RUNNER

Every script in pass/ must pass, and pass again under --mode and --prelude. Every script in fail/ must fail with exit
status 1, and its output must contain the pattern in its first line: `# expect: REGEX`.
"""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNNER = sys.argv.pop() if len(sys.argv) > 1 else None


def run(*arguments):
    run = subprocess.run([RUNNER, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


class SelfTest(unittest.TestCase):
    def test_scripts_that_pass(self):
        status, output = run(HERE / "pass")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"^\d+ files, \d+ cases, 0 failed\n$")

    def test_scripts_that_fail(self):
        for path in sorted((HERE / "fail").glob("*.test")):
            with self.subTest(path.name):
                expected = re.match(r"# expect: (.*)", path.read_text())[1]
                status, output = run(path)
                self.assertEqual(status, 1, output)
                self.assertRegex(output, expected)
                self.assertRegex(output, re.escape(str(path)) + r":\d+: ")
                self.assertRegex(output, r"1 files, \d+ cases, [1-9]\d* failed\n$")

    def test_a_file_that_is_missing_fails(self):
        status, output = run(HERE / "no_such.test")
        self.assertEqual(status, 1)
        self.assertIn("cannot be read", output)

    def test_a_mode_switches_cases_and_a_prelude_runs_first(self):
        script = HERE / "mode" / "prelude.test"
        self.assertEqual(run("--mode", "prepared", "--prelude", "CREATE TABLE made (a)", script)[0], 0)
        self.assertEqual(run("--mode", "prepared", script)[0], 1)
        self.assertEqual(run(script)[0], 0)

    def test_generate_writes_what_makes_the_script_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "generated.test"
            shutil.copy(HERE / "mode" / "to_generate.test", script)
            self.assertEqual(run(script)[0], 1)
            run("--generate", script)
            status, output = run(script)
            self.assertEqual(status, 0, output)
            self.assertEqual(script.read_text(), (HERE / "mode" / "generated.expected").read_text())

    def test_temporary_folders_are_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([RUNNER, HERE / "pass"], env={"TMPDIR": folder}, capture_output=True, check=True)
            self.assertEqual(list(Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
