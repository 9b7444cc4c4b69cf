"""`eindb calibrate --workers` measures the costs of exchanges between workers, and plans use them.

    calibrate_test.py EINDB

The figures themselves are not looked at: machines that run tests are busy.
"""

import json
import os
import subprocess
import tempfile
import unittest

from nodes import EINDB, SECRET_FILE, Cluster, Worker

COSTS = {f"tcp {name}" for name in ("per_exchange", "per_peer", "per_byte", "per_copied_byte", "per_piece", "per_streams")}
CHAIN = "EINSUM Z[i,l] = SUM(X[i,j] * X[j,k] * X[k,l])"


class Calibrate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = os.path.join(folder.name, "machine.json")

    def cluster(self, workers):
        cluster = Cluster(workers)
        self.addCleanup(cluster.close)
        with cluster.connect() as connection:
            cluster.wait_for_workers(connection)
        return cluster

    def eindb(self, *arguments):
        return subprocess.run([EINDB, *arguments], capture_output=True, text=True, timeout=250)

    def calibrate(self, *options):
        run = self.eindb("calibrate", self.machine, "--seconds", "0", "--csv", *options)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(self.machine) as file:
            return run.stdout, json.load(file)["figures"]

    def test_costs_are_measured_kept_and_used(self):
        cluster = self.cluster(3)
        # The workers have a database already, and it is in use.
        with cluster.connect() as connection:
            connection.execute("CREATE TENSOR X AS EINSUM X[i 256, j 256] = i + j")
        table, figures = self.calibrate(*cluster.shell_options)
        measured = {name: value for name, value in figures.items() if name.startswith("tcp ")}
        self.assertEqual(set(measured), COSTS)
        self.assertTrue(all(value > 0 for value in measured.values()))
        for name in COSTS:
            self.assertIn(f"{name},", table)

        # A session plans with them: messages that take a thousand times as long make its exchanges as much longer.
        def predicted(factor):
            slower = {name: value * factor for name, value in measured.items()}
            with open(self.machine) as file:
                whole = json.load(file)
            whole["figures"].update(slower)
            with open(self.machine, "w") as file:
                json.dump(whole, file)
            run = self.eindb(cluster.database, *cluster.shell_options, "-c",
                             f"SET machine_file = '{self.machine}'; SET small_statements = 'workers'; EXPLAIN (FORMAT json) {CHAIN}")  # fmt: skip
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            steps = json.loads(run.stdout)["steps"]
            return sum(step["pieces_predicted_seconds"] for step in steps if "pieces_predicted_seconds" in step)

        once = predicted(1)
        self.assertGreater(once, 0)
        self.assertGreater(predicted(1000), 500 * once)

        # Measuring the machine again, without workers, keeps what was measured between them.
        with open(self.machine) as file:
            before = json.load(file)["figures"]["tcp per_byte"]
        self.assertEqual(self.calibrate()[1]["tcp per_byte"], before)

    def test_workers_without_a_database_stay_so(self):
        cluster = Cluster(0)
        self.addCleanup(cluster.close)
        workers = [Worker(os.path.join(cluster.folder, f"w{n}")) for n in range(2)]
        for worker in workers:
            self.addCleanup(worker.close)
        options = ["--workers", ",".join(worker.address for worker in workers), "--secret-file", SECRET_FILE]
        for _ in range(2):
            self.calibrate(*options)
        run = self.eindb(cluster.database + "2", *options, "-c", "CREATE TENSOR X AS EINSUM X[i 64] = i")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_one_worker_has_nobody_to_exchange_with(self):
        cluster = self.cluster(1)
        run = self.eindb("calibrate", self.machine, "--seconds", "0", *cluster.shell_options)
        self.assertEqual(run.returncode, 1)
        self.assertIn("between two workers at least", run.stderr)
        self.assertFalse(os.path.exists(self.machine))


if __name__ == "__main__":
    unittest.main()
