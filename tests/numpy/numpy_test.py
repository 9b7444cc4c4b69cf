#!/usr/bin/python3
"""Compares eindb with NumPy, through .npy files that NumPy writes and reads.

Every case imports its inputs, runs statements, exports the result and compares it with NumPy's result for the same
files. The largest difference relative to the largest value must be at most 1e-5 (float32) or 1e-12 (float64). Each case
runs with the default settings, with one thread, and with tiny tiles and many kernel calls.
"""
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}
MODES = {
    "default": "",
    "one thread": "SET threads = 1;",
    "tiny tiles": "SET tile_bytes = 256; SET parallelism = 64;",
    "sqrt": "SET strategy = 'sqrt'; SET parallelism = 16;",
}


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


SOFTMAX = """
CREATE TENSOR Z AS
WITH C[i]   = MAX(X[i,j]),
     E[i,j] = EXP(X[i,j] - C[i]),
     S[i]   = SUM(E[i,j])
EINSUM Y[i,j] = E[i,j] / S[i];
"""

ATTENTION = """
CREATE TENSOR Z AS
WITH QH[s,h,d] = SUM(Q[s,a] * WQ[a,h,d]),
     KH[s,h,d] = SUM(K[s,a] * WK[a,h,d]),
     VH[s,h,d] = SUM(V[s,a] * WV[a,h,d]),
     T1[h,s,t] = SUM(QH[s,h,d] * KH[t,h,d]),
     T2[h,s,t] = T1[h,s,t] / SQRT(16),
     C[h,s]    = MAX(T2[h,s,t]),
     E[h,s,t]  = EXP(T2[h,s,t] - C[h,s]),
     D[h,s]    = SUM(E[h,s,t]),
     T3[h,s,t] = E[h,s,t] / D[h,s],
     O[s,h,d]  = SUM(T3[h,s,t] * VH[t,h,d])
EINSUM Y[s,a] = SUM(O[s,h,d] * WO[a,h,d]);
"""


def attention(t):
    qh, kh, vh = (np.einsum("sa,ahd->shd", t[x], t["W" + x]) for x in "QKV")
    weights = softmax(np.einsum("shd,thd->hst", qh, kh) / np.sqrt(16))
    return np.einsum("shd,ahd->sa", np.einsum("hst,thd->shd", weights, vh), t["WO"])


def chain_shapes(s, skewed):
    if not skewed:
        return {name: (s, s) for name in "ABCDE"}
    return {"A": (s, s // 10), "B": (s // 10, s), "C": (s, s // 10), "D": (s // 10, 10 * s), "E": (10 * s, s)}


CHAIN = """
CREATE TENSOR Z AS
WITH AB[i,k]  = SUM(A[i,j] * B[j,k]),
     DE[l,k]  = SUM(D[l,m] * E[m,k]),
     CDE[i,k] = SUM(C[i,l] * DE[l,k])
EINSUM Y[i,k] = AB[i,k] + CDE[i,k];
"""


def chain(t):
    return t["A"] @ t["B"] + t["C"] @ (t["D"] @ t["E"])


def macro(expression):
    return f"CREATE TENSOR Z AS EINSUM Z[i,j] = {expression};"


def normalized(x, centred):
    if centred:
        x = x - x.mean(axis=1, keepdims=True)
    return x / np.sqrt((x ** 2).mean(axis=1, keepdims=True) + 1e-5)


ATTENTION_SHAPES = {
    "Q": (48, 40), "K": (48, 40), "V": (48, 40),
    "WQ": (40, 4, 16), "WK": (40, 4, 16), "WV": (40, 4, 16), "WO": (40, 4, 16),
}
PAIR = {"X": (61, 37), "Y": (37, 45)}

# name: (shapes of the inputs, statements that create Z, the same in NumPy)
CASES = {
    "product": (PAIR, "CREATE TENSOR Z AS EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k]);", lambda t: t["X"] @ t["Y"]),
    "product, subscripts": (PAIR, "CREATE TENSOR Z AS EINSUM 'ij,jk->ki' (X, Y);", lambda t: (t["X"] @ t["Y"]).T),
    "softmax": ({"X": (53, 71)}, SOFTMAX, lambda t: softmax(t["X"])),
    "squared L2 distance": (
        PAIR, "CREATE TENSOR Z AS EINSUM D[i,k] = SUM((X[i,j] - Y[j,k])^2);",
        lambda t: ((t["X"][:, :, None] - t["Y"][None]) ** 2).sum(axis=1)),
    "L-infinity distance": (
        PAIR, "CREATE TENSOR Z AS EINSUM L[i,k] = MAX(ABS(X[i,j] - Y[j,k]));",
        lambda t: np.abs(t["X"][:, :, None] - t["Y"][None]).max(axis=1)),
    "multi-head attention": (ATTENTION_SHAPES, ATTENTION, attention),
    "uniform matrix chain": (chain_shapes(200, False), CHAIN, chain),
    "skewed matrix chain": (chain_shapes(200, True), CHAIN, chain),
    "batch summed out": (
        {"X": (10, 30, 20), "Y": (30, 20, 25)}, "CREATE TENSOR Z AS EINSUM Z[i,k] = SUM(X[i,j,b] * Y[j,b,k]);",
        lambda t: np.einsum("ijb,jbk->ik", t["X"], t["Y"])),
    "softmax macro": ({"X": (53, 71)}, macro("softmax(X[i,j], j)"), lambda t: softmax(t["X"])),
    "layernorm macro": ({"X": (53, 71)}, macro("layernorm(X[i,j], j)"), lambda t: normalized(t["X"], centred=True)),
    "rmsnorm macro": ({"X": (53, 71)}, macro("rmsnorm(X[i,j], j)"), lambda t: normalized(t["X"], centred=False)),
    "silu macro": ({"X": (53, 71)}, macro("silu(X[i,j])"), lambda t: t["X"] / (1 + np.exp(-t["X"]))),
    "gelu macro": (
        {"X": (53, 71)}, macro("gelu(X[i,j])"),
        lambda t: 0.5 * t["X"] * (1 + np.vectorize(math.erf)(t["X"] / np.sqrt(2)))),
    "log-sum-exp": (
        {"X": (53, 71)}, "CREATE TENSOR Z AS EINSUM Z[i] = LOGSUMEXP(100 * X[i,j]);",
        lambda t: (100 * t["X"]).max(1) + np.log(np.exp(100 * (t["X"] - t["X"].max(1)[:, None])).sum(1))),
    "one row and one column": (
        PAIR, "CREATE TENSOR Z AS EINSUM Z[j,k] = X[60,j] * Y[j,k] + Y[7,k];",
        lambda t: t["X"][60][:, None] * t["Y"] + t["Y"][7]),
    "mean and product of three": (
        {"A": (9, 8), "B": (8, 7), "C": (7, 6)}, "CREATE TENSOR Z AS EINSUM Z[i,l] = MEAN(A[i,j] * B[j,k] * C[k,l]);",
        lambda t: t["A"] @ t["B"] @ t["C"] / 56),
}


def run_case(eindb, name, dtype, mode, prelude):
    shapes, statements, compute = CASES[name]
    rng = np.random.default_rng(20240607)
    tensors = {t: rng.standard_normal(shape).astype(dtype) for t, shape in shapes.items()}
    with tempfile.TemporaryDirectory() as folder:
        script = [prelude]
        for t, values in tensors.items():
            # NumPy writes two memory layouts. Both are tested.
            np.save(f"{folder}/{t}.npy", np.asfortranarray(values) if t in "BY" else values)
            script.append(f"COPY {t} FROM '{folder}/{t}.npy';")
        script += [statements, f"COPY Z TO '{folder}/Z.npy';"]
        done = subprocess.run([eindb, f"{folder}/test.db", "-c", "\n".join(script)], capture_output=True, text=True)
        if done.returncode != 0:
            return f"exit status {done.returncode}: {done.stderr}"
        result = np.load(f"{folder}/Z.npy")
    # The expected result is computed in double precision, so that NumPy's rounding errors do not count.
    expected = compute({t: values.astype(np.float64) for t, values in tensors.items()})
    if result.dtype != dtype or result.shape != expected.shape:
        return f"got {result.dtype}{result.shape}, expected {np.dtype(dtype)}{expected.shape}"
    error = np.abs(result - expected).max() / np.abs(expected).max()
    return None if error <= TOLERANCE[dtype] else f"relative error {error:.2e} above {TOLERANCE[dtype]:.0e}"


def main():
    eindb = os.path.abspath(sys.argv[1])
    failed = 0
    count = 0
    for name in CASES:
        for dtype in TOLERANCE:
            for mode, prelude in MODES.items():
                problem = run_case(eindb, name, dtype, mode, prelude)
                count += 1
                if problem:
                    failed += 1
                    print(f"FAILED {name}, {np.dtype(dtype)}, {mode}: {problem}")
    print(f"{count} comparisons with NumPy, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
