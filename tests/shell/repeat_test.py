#!/usr/bin/python3
"""repeat_test.py EINDB: tests interrupted loops of scripts, from outside the program.

A training script that was killed or interrupted, at any moment and any number of times, continues from there when it is
run again. It ends with the same bits as an uninterrupted one. EINDB_KILLS sets the number of kills.
"""
import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from waiting import cpu_seconds, wait_until  # noqa: E402

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
KILLS = int(os.environ.get("EINDB_KILLS", "5"))
ROUNDS = 60

# Every round depends on all bits of all earlier ones.
TRAINING = f"""
SET threads = 1;
CREATE TENSOR IF NOT EXISTS X AS EINSUM X[t {ROUNDS}, b 40, i 96] = RANDN(7);
CREATE TENSOR IF NOT EXISTS W AS EINSUM W[i 96, h 96] = RANDN(8) / 10;
CREATE TENSOR IF NOT EXISTS step INT64 AS EINSUM step[] = 0;
CREATE TABLE IF NOT EXISTS losses (round INTEGER PRIMARY KEY, loss REAL);
REPEAT {ROUNDS} AS t COMMIT EVERY 4 {{
  UPDATE TENSOR W[i,h] = 0.9 * W[i,h] + 0.01 * TANH(SUM[b,j](X[t,b,i] * X[t,b,j] * W[j,h])), step[] = step + 1;
  INSERT INTO losses SELECT :t, val FROM (EINSUM L[] = SUM(W[i,h] ^ 2));
}}
COPY W TO 'W.npy';
"""


class Loops(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "train.sql").write_text(TRAINING)

    def start(self, database):
        return subprocess.Popen([EINDB, database, "-f", "train.sql"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def run_through(self, database):
        process = self.start(database)
        _, errors = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 0, errors)
        return errors

    def rows(self, database, statement):
        done = subprocess.run([EINDB, "--csv", "--noheader", database, "-c", statement], cwd=self.folder, timeout=240,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def result(self, database):
        """The result of the finished script: the bits of the weights, the losses, and the number of steps."""
        weights = (self.folder / "W.npy").read_bytes()
        (self.folder / "W.npy").unlink()
        return weights, self.rows(database, "SELECT * FROM losses ORDER BY round"), self.rows(database, "EINSUM n[] = step")

    def steps_so_far(self, database):
        """The number of committed rounds. Nothing of uncommitted ones may be visible."""
        tables = self.rows(database, "SELECT name FROM sqlite_schema WHERE name IN ('losses', 'eindb_tiles_step')")
        if len(tables) < 2:
            return 0
        # One statement reads both, since the script may be running.
        (row,) = self.rows(database, "SELECT (SELECT COUNT(*) FROM losses), (SELECT SUM(val) FROM step)")
        losses, steps = map(int, row.split(","))
        self.assertEqual(steps, losses)
        self.assertEqual(steps % 4, 0)
        return steps

    def test_killed_it_goes_on_from_the_last_committed_round(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.run_through("whole.db")
        duration = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        whole = self.result("whole.db")
        self.assertEqual(whole[2], [str(ROUNDS)])
        rng = random.Random(8)
        for attempt in itertools.count():
            database = f"killed{attempt}.db"
            steps = self.kill_often(database, duration, rng)
            # With other load a kill may come after the end of the loop. The script would begin another loop.
            if steps[-1] == ROUNDS:
                continue
            errors = self.run_through(database)
            self.assertEqual(self.result(database), whole)
            # Kills may come before the first round is committed.
            if any(0 < step < ROUNDS for step in steps):
                break
        if 0 < steps[-1] < ROUNDS:
            self.assertIn(f"the loop goes on after {steps[-1]} of {ROUNDS} rounds", errors)

    def kill_often(self, database, duration, rng):
        """Starts the script repeatedly, and kills it when it has computed for a part of `duration`. Returns the number
        of committed rounds after each kill."""
        steps = []
        for _ in range(KILLS):
            process = self.start(database)
            most = rng.uniform(0, duration / 2)
            self.assertTrue(wait_until(lambda: process.poll() is not None or cpu_seconds(process.pid) >= most))
            process.kill()
            process.communicate()
            steps.append(self.steps_so_far(database))
            self.assertEqual(self.rows(database, "PRAGMA integrity_check"), ["ok"])
            if steps[-1] == ROUNDS:
                break
        return steps

    def test_interrupted_it_says_what_is_committed_and_goes_on(self):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.run_through("whole.db")
        duration = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        whole = self.result("whole.db")
        rng = random.Random(9)
        for attempt in itertools.count():
            database = f"my{attempt}.db"
            self.rows(database, "CREATE TABLE other (n)")  # creates the file, which needs exclusive access
            process = self.start(database)
            most = rng.uniform(duration / 5, duration)
            self.assertTrue(wait_until(lambda: process.poll() is not None or cpu_seconds(process.pid) >= most))
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=240)
            # The signal may come before the first round is committed, and with other load after the end of the loop.
            if process.returncode != 0 and self.steps_so_far(database) > 0:
                break
        self.assertEqual(process.returncode, 1, errors)
        steps = self.steps_so_far(database)
        self.assertIn(f"{steps} rounds are committed: the same statement goes on after them", errors)
        self.assertIn(f"goes on after {steps} of {ROUNDS} rounds", self.run_through(database))
        self.assertEqual(self.result(database), whole)

    def test_a_database_that_cannot_be_written_is_looped_over(self):
        self.rows("my.db", "CREATE TENSOR s AS EINSUM s[] = 1")
        for loop, status in (("REPEAT 3 { EINSUM n[] = s }", 0), ("REPEAT 3 { UPDATE TENSOR s[] = 2 }", 1)):
            done = subprocess.run([EINDB, "--readonly", "my.db", "-c", loop], cwd=self.folder, timeout=240,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(self.rows("my.db", "EINSUM n[] = s"), ["1.0"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
