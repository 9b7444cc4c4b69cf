"""Tests `eindb calibrate`: calibrate_test.py EINDB

The tests cover the contents and the path of its file, plans that use it, the predictions of both models in EXPLAIN
ANALYZE beside the measured values, and errors. They ignore the measured times, since other load affects these.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from waiting import wait_until_computing  # noqa: E402

EINDB = sys.argv.pop() if len(sys.argv) > 1 else None
QUERIES = [
    "EINSUM Z[i,k] = SUM(X[i,j] * X[j,k])",
    "EINSUM Z[i] = SUM(X[i,j])",
    "EINSUM Z[i,j] = EXP(X[j,i]) + RANDN(1)",
    "WITH E[i,j] = EXP(X[i,j]), D[i] = SUM(E[i,j]) EINSUM Z[i,j] = E[i,j] / D[i]",
    "EINSUM Z[i,l] = SUM(X[i,j] * X[j,k] * X[k,l])",
]


class CalibrateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = {k: v for k, v in os.environ.items() if k != "XDG_CONFIG_HOME"}
        self.environment["HOME"] = str(self.folder)

    def run_eindb(self, *arguments, **environment):
        run = subprocess.run([EINDB, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=250,
                             env={**self.environment, **environment})
        return run.returncode, run.stdout, run.stderr

    def calibrate(self, *arguments, **environment):
        status, output, message = self.run_eindb("calibrate", "--seconds", "0", "--threads", "2", "--csv", *arguments,
                                                 **environment)
        self.assertEqual((status, message), (0, ""))
        return output

    def test_figures_are_printed_kept_and_used(self):
        table = self.calibrate()
        path = self.folder / ".config/eindb/machine.json"
        kept = json.loads(path.read_text())
        self.assertEqual((kept["format"], kept["version"], kept["threads"]), ("eindb machine figures", 2, 2))
        lines = table.splitlines()
        self.assertEqual(lines[:3], ["figure,value,unit", f"source,{path},", "threads,2,"])
        self.assertEqual({line.split(",")[0] for line in lines[3:]}, set(kept["figures"]))
        self.assertTrue(all(value > 0 for value in kept["figures"].values()))
        self.assertEqual(sorted(p.name for p in path.parent.iterdir()), ["machine.json"])

        self.assertEqual(self.run_eindb("--csv", "-c", "SHOW machine")[1], table)
        for model in "transfers", "calibrated":
            self.check_explanations(model, str(path))

    def check_explanations(self, model, path):
        for query in QUERIES:
            status, output, message = self.run_eindb(
                "--list", "--noheader", "-c", "CREATE TENSOR X AS EINSUM X[i 1000, j 1000] = RANDOM(1)",
                "-c", f"SET cost_model = '{model}'", "-c", f"EXPLAIN (ANALYZE, FORMAT json) {query}")
            self.assertEqual((status, message), (0, ""))
            plan = json.loads(output)
            self.assertEqual((plan["cost_model"], plan["figures"]), (model, path))
            self.assertEqual(len(plan["parallelism_candidates"]) > 1, model == "calibrated")
            self.assertGreater(plan["execution_seconds"], 0)
            self.assertGreater(plan["predicted_seconds"], 0)
            for part in [plan, *plan["vertices"]]:
                # The time of a vertex that is computed with another one counts there.
                self.assertGreaterEqual(part["predicted_seconds"], 0)
                self.assertLessEqual(part["actual_elements"], part["predicted_elements"])
            self.assertAlmostEqual(sum(v["predicted_elements"] for v in plan["vertices"]), plan["predicted_elements"])
            self.assertGreaterEqual(plan["predicted_seconds"], sum(v["predicted_seconds"] for v in plan["vertices"]))

    def test_where_the_file_lies(self):
        self.calibrate(XDG_CONFIG_HOME=str(self.folder / "xdg"))
        self.assertTrue((self.folder / "xdg/eindb/machine.json").is_file())
        self.calibrate("here.json")
        status, output, _ = self.run_eindb("--csv", "-c", "SET machine_file = 'here.json'", "-c", "SHOW machine")
        self.assertEqual((status, output.splitlines()[1]), (0, "source,here.json,"))

    def test_mistakes(self):
        status, _, message = self.run_eindb("calibrate", "/proc/nowhere/machine.json", "--seconds", "0")
        self.assertEqual(status, 1)
        self.assertIn("/proc/nowhere", message)
        self.assertIn("eindb calibrate FILE", message)
        status, _, message = self.run_eindb("calibrate", "--seconds", "-1")
        self.assertEqual(status, 1)
        self.assertIn("--seconds", message)
        status, _, message = self.run_eindb("calibrate", "--seconds", "0", HOME="")
        self.assertEqual(status, 1)
        self.assertIn("home directory", message)

    def test_a_damaged_file_says_what_to_do(self):
        path = self.folder / ".config/eindb/machine.json"
        path.parent.mkdir(parents=True)
        path.write_text('{"format": "eindb machine figures", "version": 2}')
        status, _, message = self.run_eindb("-c", "SET cost_model = 'calibrated'; EINSUM Z[i 2] = i")
        self.assertEqual(status, 1)
        self.assertIn(str(path), message)
        self.assertIn("eindb calibrate", message)
        # Sessions with another cost model are not affected.
        self.assertEqual(self.run_eindb("-c", "EINSUM Z[i 2] = i")[0], 0)

    def test_interrupted_it_leaves_nothing(self):
        process = subprocess.Popen([EINDB, "calibrate", "figures.json", "--seconds", "600"], cwd=self.folder,
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(wait_until_computing(process.pid, 1))
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 1)
        self.assertIn("cancelled", message)
        self.assertEqual(list(self.folder.glob("figures*")), [])


if __name__ == "__main__":
    unittest.main()
