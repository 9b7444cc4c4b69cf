#!/usr/bin/python3
"""ffnn_test.py EINDB PROJECT: compares examples/models/ffnn with NumPy in double precision, and tests it on digits."""
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

PROJECT = Path(sys.argv.pop()).resolve() if len(sys.argv) > 2 else None
EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None

SIZES = {"batches": 3, "batch": 8, "features": 40, "hidden": 6, "labels": 5}
RATE = 0.5


def write_cells(path, values):
    with open(path, "w") as file:
        for key in zip(*values.nonzero()):
            file.write(",".join(map(str, key)) + f",{values[key]:.9g}\n")


def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def train(x, t, w1, w2, epochs):
    """Gradient descent in NumPy. Returns the weights, and the losses of the last epoch."""
    losses = np.zeros(len(x))
    for _ in range(epochs):
        for n in range(len(x)):
            p = x[n] @ w1
            h = np.maximum(p, 0)
            shares = softmax(h @ w2)
            losses[n] = -np.mean(np.sum(t[n] * np.log(shares), axis=1))
            d2 = (shares * t[n].sum(axis=1, keepdims=True) - t[n]) / len(x[n])
            d1 = (d2 @ w2.T) * (p > 0)
            w1, w2 = w1 - RATE * x[n].T @ d1, w2 - RATE * h.T @ d2
    return w1, w2, losses


class FfnnTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_program(self, *command):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def tensor(self, name):
        self.run_program(EINDB, "m.db", "-c", f"COPY {name} TO '{name}.npy'")
        return np.load(self.folder / f"{name}.npy").astype(np.float64)

    def test_training_is_what_it_is_in_numpy(self):
        rng = np.random.default_rng(5)
        shape = (SIZES["batches"], SIZES["batch"])
        x = rng.standard_normal((*shape, SIZES["features"])) * (rng.random((*shape, SIZES["features"])) < 0.2)
        t = np.eye(SIZES["labels"])[rng.integers(SIZES["labels"], size=shape)]
        write_cells(self.folder / "x.csv", x)
        write_cells(self.folder / "t.csv", t)
        train_py = PROJECT / "examples/models/ffnn/train.py"
        sizes = [word for name, size in SIZES.items() for word in (f"--{name}", size)]
        self.run_program(train_py, "read", "m.db", "x.csv", "t.csv", *sizes, "--eindb", EINDB)
        w1, w2 = self.tensor("W1"), self.tensor("W2")
        self.run_program(train_py, "train", "m.db", *sizes, "--rate", RATE, "--epochs", 4, "--eindb", EINDB)
        for name, expected in zip(("W1", "W2", "losses"), train(x, t, w1, w2, 4)):
            np.testing.assert_allclose(self.tensor(name), expected, rtol=1e-4, atol=1e-5, err_msg=name)

    def test_digits_are_told_apart(self):
        """The trained model recognizes over 95 % of the held-out images, after less than a minute of CPU time."""
        script = PROJECT / "examples/models/ffnn/digits.sql"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [EINDB, self.folder / "digits.db", "-f", script]
        done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 60)
        self.assertGreater(float(done.stdout.split()[-1]), 0.95)


if __name__ == "__main__":
    unittest.main()
