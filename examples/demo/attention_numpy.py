#!/usr/bin/python3
"""attention_numpy.py inputs|check FOLDER: writes the inputs of examples/demo/attention.sql as .npy files, or compares
the result with NumPy's."""
import sys

import numpy as np

TOKENS, WIDTH, HEADS, DEPTH = 512, 512, 8, 64


def write_inputs(folder):
    rng = np.random.default_rng(7)
    for name in "QKV":
        np.save(f"{folder}/{name}.npy", rng.standard_normal((TOKENS, WIDTH)).astype(np.float32))
    for name in ("WQ", "WK", "WV", "WO"):
        weights = rng.standard_normal((WIDTH, HEADS, DEPTH)) / np.sqrt(WIDTH)
        np.save(f"{folder}/{name}.npy", weights.astype(np.float32))


def attention(t):
    qh, kh, vh = (np.einsum("sa,ahd->hsd", t[x], t["W" + x], optimize=True) for x in "QKV")
    scores = qh @ kh.transpose(0, 2, 1) / np.sqrt(DEPTH)
    e = np.exp(scores - scores.max(axis=2, keepdims=True))
    return np.einsum("hsd,ahd->sa", (e / e.sum(axis=2, keepdims=True)) @ vh, t["WO"], optimize=True)


def check(folder):
    names = ("Q", "K", "V", "WQ", "WK", "WV", "WO")
    expected = attention({n: np.load(f"{folder}/{n}.npy").astype(np.float64) for n in names})
    error = np.abs(np.load(f"{folder}/Y.npy") - expected).max() / np.abs(expected).max()
    print(f"largest difference to NumPy in double precision, relative to the largest value: {error:.1e}")
    return 0 if error < 1e-5 else 1


if __name__ == "__main__":
    action, directory = sys.argv[1:]
    sys.exit(write_inputs(directory) if action == "inputs" else check(directory))
