"""Computes (A x B) + (C x (D x E)) in Dask, once per turn: dask_chain.py DTYPE THREADS M K1 N K2 K3

Finds the best number of chunks, and prints "ready" and that number. Then it prints a line with seconds for each line
that it reads. Dask's threads share the cores, so BLAS uses one thread in each of them."""

import sys
import time

import dask
import dask.array
import numpy as np

PARTS = (1, 2, 4, 8)


def operand(random, rows, columns, dtype, parts):
    values = random.random((rows, columns), dtype=dtype) - np.asarray(0.5, dtype)
    return dask.array.from_array(values, chunks=(-(-rows // parts), -(-columns // parts)))


def chain(dtype, sizes, parts):
    m, k1, n, k2, k3 = sizes
    random = np.random.default_rng(20)
    shapes = ((m, k1), (k1, n), (m, k2), (k2, k3), (k3, n))
    a, b, c, d, e = (operand(random, *shape, dtype, parts) for shape in shapes)
    return a @ b + c @ (d @ e)


def seconds_of(expression):
    start = time.perf_counter()
    expression.compute()
    return time.perf_counter() - start


def main():
    dtype, threads, *sizes = sys.argv[1:]
    dask.config.set(scheduler="threads", num_workers=int(threads))
    best = None
    for parts in PARTS:
        seconds = seconds_of(chain(dtype, list(map(int, sizes)), parts))
        if best is None or seconds < best[0]:
            best = (seconds, parts)
    expression = chain(dtype, list(map(int, sizes)), best[1])
    print(f"ready {best[1]}", flush=True)
    for _ in sys.stdin:
        print(seconds_of(expression), flush=True)


if __name__ == "__main__":
    main()
