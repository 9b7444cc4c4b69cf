#!/usr/bin/python3
"""Lets tensors grow in random steps, beside NumPy: results of queries, rows of VALUES and of SELECT appended along any
dimension, longer extents, and updates between them; whole and cut into tiles, in a transaction, with little memory, and
at three workers."""
import random
import sys

import numpy as np

from modes import compare

STEPS = 40
SHAPES = {"A": (3, 2, 4), "B": (5,), "C": (0, 3), "D": (4, 6)}
LABELS = "ijk"
PARTITIONED = "ALTER TENSOR A PARTITION (2, 1, 2); ALTER TENSOR B PARTITION (3); ALTER TENSOR D PARTITION (3, 2);"
MODES = {
    "whole": "",
    "tiles": PARTITIONED + "SET parallelism = 16; SET tile_bytes = 64;",
    "transaction": PARTITIONED + "SET tile_bytes = 128; BEGIN;",
    "little memory": PARTITIONED + "SET memory_limit = '2MiB'; SET tile_bytes = 4096; SET parallelism = 8;",
    "workers": PARTITIONED + "".join(f"ALTER TENSOR {name} REPLICAS 2;" for name in SHAPES),
}


def head(shape):
    return ", ".join(f"{label} {extent}" for label, extent in zip(LABELS, shape))


def step(rng, name, array):
    """A statement, and the array after it."""
    d = rng.randrange(array.ndim)
    along = LABELS[d]
    kind = rng.choice(["append", "append", "one", "values", "select", "extend", "region", "update"])
    factor = rng.randrange(1, 9)
    own = [f"{n + factor}*{label}" for n, label in enumerate(LABELS[:array.ndim])]
    if kind in ("append", "one"):
        shape = list(array.shape)
        shape[d] = rng.randrange(1, 5) if kind == "append" else 1
        values = sum((n + factor) * index for n, index in enumerate(np.indices(shape)))
        after = np.concatenate([array, values.astype(float)], axis=d)
        if kind == "one" and array.ndim > 1:
            own[d] = "0"
            dims = [f"{label} {extent}" for n, (label, extent) in enumerate(zip(LABELS, shape)) if n != d]
            return f"INSERT INTO TENSOR {name} AT ({along}) EINSUM Z[{', '.join(dims)}] = {' + '.join(own)}", after
        return f"INSERT INTO TENSOR {name} AT ({along}) EINSUM Z[{head(shape)}] = {' + '.join(own)}", after
    if kind in ("values", "select") and array.size:
        rows = []
        more = rng.randrange(1, 4)
        shape = list(array.shape)
        shape[d] = more
        after = np.concatenate([array, np.zeros(shape)], axis=d)
        keys = {tuple(rng.randrange(extent) for extent in shape) for _ in range(3)}
        keys.add(tuple(more - 1 if n == d else 0 for n in range(array.ndim)))
        for key in keys:
            value = rng.randrange(1, 50)
            after[tuple(k + (array.shape[d] if n == d else 0) for n, k in enumerate(key))] = value
            rows.append(f"({', '.join(map(str, key))}, {value})")
        source = f"VALUES {', '.join(rows)}"
        if kind == "select":
            source = f"SELECT * FROM ({source})"
        return f"INSERT INTO TENSOR {name} AT ({along}) {source}", after
    if kind == "extend":
        shape = [extent + rng.choice([0, 1, 3]) for extent in array.shape]
        after = np.zeros(shape)
        after[tuple(slice(extent) for extent in array.shape)] = array
        changed = [f"{label} {extent}" for label, extent in zip(LABELS, shape)]
        return f"ALTER TENSOR {name} EXTEND ({', '.join(changed)})", after
    if kind == "region" and array.size:
        index = rng.randrange(array.shape[d])
        after = array.copy()
        after[(slice(None),) * d + (index,)] += factor
        terms = list(LABELS[:array.ndim])
        terms[d] = str(index)
        return f"UPDATE TENSOR {name}[{','.join(terms)}] += {factor}", after
    labels = ",".join(LABELS[:array.ndim])
    return f"UPDATE TENSOR {name}[{labels}] = {name}[{labels}] % 13 + 1", array % 13 + 1


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else STEPS
    rng = random.Random(20261128)
    wanted = []
    values = {name: np.arange(int(np.prod(shape)), dtype=float).reshape(shape) for name, shape in SHAPES.items()}
    arrays = dict(values)
    for _ in range(steps):
        for name in SHAPES:
            if arrays[name].size < 4000:
                text, arrays[name] = step(rng, name, arrays[name])
                labels = ",".join(LABELS[:arrays[name].ndim])
                query = f"(EINSUM Z[{labels}] = {name}[{labels}])" if len(wanted) % 2 else name
                wanted.append((f"{text}; COPY {query} TO @", arrays[name]))
    return compare(MODES, values, wanted)


if __name__ == "__main__":
    sys.exit(main())
