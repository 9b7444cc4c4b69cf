#!/usr/bin/python3
"""memory_limit_test.py EINDB: measures the memory of a process with a memory_limit.

The kernel reports the peak of resident memory (ru_maxrss of the process): tiles, workspace of kernels, pages of the
database, free blocks of the allocator, and the program itself with its libraries. Statements cannot limit the program,
so the peak of the same program with an empty statement is subtracted. The rest may exceed the limit by 15 %.
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
MEBIBYTE = 1 << 20
TIMEOUT = 100


# The peak memory of a process includes that before exec, when it is a copy of this process, which may be large.
# Therefore a small interpreter starts the program.
WATCH = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""


def run_watched(*arguments):
    """Runs EINDB to its end. Returns (exit status, standard error, peak of resident bytes)."""
    command = [sys.executable, "-I", "-S", "-c", WATCH, EINDB, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    status, resident = map(int, done.stdout.split()[-2:])
    return status, done.stderr, resident


class MemoryLimit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.database = self.folder / "my.db"

    def run_eindb(self, *arguments):
        status, errors, resident = run_watched(self.database, *arguments)
        self.assertEqual(status, 0, errors)
        return resident

    def store(self, name, values):
        path = self.folder / f"{name}.npy"
        np.save(path, values)
        self.run_eindb("-c", f"COPY {name} FROM '{path}'")
        path.unlink()

    def check(self, query, limits, tolerance=0.0):
        """The result is the same under all limits, which are in bytes. Each has a fresh process, which keeps to it."""
        results = [self.folder / f"{n}.npy" for n in range(len(limits) + 1)]
        self.run_eindb("-c", f"COPY ({query}) TO '{results[0]}'")
        expected = np.load(results[0])
        for path, limit in zip(results[1:], limits):
            arguments = ["--memory-limit", f"{limit // MEBIBYTE}MiB", "-c"]
            program = self.run_eindb(*arguments, "EINSUM Z[] = 1")
            resident = self.run_eindb(*arguments, f"COPY ({query}) TO '{path}'")
            np.testing.assert_allclose(np.load(path), expected, rtol=tolerance)
            self.assertLessEqual(resident - program, limit * 1.15, f"{limit // MEBIBYTE} MiB, program {program}")

    def test_a_skewed_chain(self):
        """Inputs and intermediates, 240 MB, are 8 and 16 times the limit. Sums of small whole numbers are exact."""
        rng = np.random.default_rng(7)
        rows, narrow, wide = 2048, 200, 20480
        shapes = {"A": (rows, narrow), "B": (narrow, rows), "C": (rows, narrow), "D": (narrow, wide), "E": (wide, rows)}
        for name, shape in shapes.items():
            self.store(name, rng.integers(-4, 5, shape).astype(np.float32))
        self.check("WITH AB[i,k] = SUM(A[i,j] * B[j,k]), DE[l,k] = SUM(D[l,m] * E[m,k]), "
                   "CDE[i,k] = SUM(C[i,l] * DE[l,k]) EINSUM Z[i,k] = AB[i,k] + CDE[i,k]",
                   [28 * MEBIBYTE, 14 * MEBIBYTE])

    def test_kernels_that_copy_and_fuse(self):
        """Squared distances of transposed and converted operands, and a softmax of their rows, keep to the limit."""
        rng = np.random.default_rng(8)
        self.store("P", rng.integers(-4, 5, (96, 24, 80)).astype(np.float32))
        self.store("Q", rng.integers(-4, 5, (24, 3000, 80)).astype(np.int64))
        self.check("WITH S[p,q] = SUM((P[p,b,a] - Q[b,q,a])^2), M[p] = MAX(S[p,q]), T[p,q] = EXP((S[p,q] - M[p]) / 4), "
                   "N[p] = SUM(T[p,q]) EINSUM Z[p,q] = T[p,q] / N[p]", [16 * MEBIBYTE],
                   tolerance=100 * np.finfo(np.float32).eps)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
