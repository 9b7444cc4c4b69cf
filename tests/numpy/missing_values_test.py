#!/usr/bin/python3
"""Compares FILTER, IS NULL, COALESCE and names of indices with NumPy over random masks: whole and cut tensors, little
memory, without passes, and at three workers. The number of statements may be given as an argument."""
import random
import sys

import numpy as np

from modes import compare, partitioned, query_modes

STATEMENTS = 150
LABELS = "ijk"
SHAPES = {"A": (7, 5, 6), "B": (11, 13), "C": (1, 9)}
PARTITIONS = {"A": (3, 2, 2), "B": (4, 3), "C": (1, 4)}
PASSES = "inlining,elementwise_fusion,chain_fusion,common_subexpressions,selection_pushdown"
NAMES = [f"n{n:02}" for n in range(13)]


def arrays(rng):
    values = {}
    for name, shape in SHAPES.items():
        array = rng.integers(-4, 9, shape).astype(float)
        array[rng.random(shape) < 0.3] = np.nan
        values[name] = array
    return values


def condition(rng, name, array):
    """A condition in eindb's language, and where it holds, with all dimensions."""
    cell = f"{name}[{','.join(LABELS[:array.ndim])}]"
    kind = rng.choice(["missing", "present", "positive", "label", "both"])
    if kind == "missing":
        return f"{cell} IS NULL", np.isnan(array)
    if kind == "present":
        return f"{cell} IS NOT NULL", ~np.isnan(array)
    if kind == "positive":
        return f"{cell} > {rng.randrange(-3, 6)}", None
    if kind == "label":
        d = rng.randrange(array.ndim)
        least = rng.randrange(array.shape[d] + 1)
        index = np.indices(array.shape)[d]
        return f"{LABELS[d]} >= {least}", index >= least
    least = rng.randrange(array.shape[0])
    return f"{cell} IS NOT NULL AND i <> {least}", ~np.isnan(array) & (np.indices(array.shape)[0] != least)


def aggregate(word, array, mask, axes):
    """What eindb's aggregate of the cells of the mask is."""
    left = {"SUM": 0, "MEAN": 0, "PROD": 1, "MIN": np.inf, "MAX": -np.inf, "COUNT_NONZERO": 0, "ANY": 0, "ALL": 1}
    values = np.where(mask, array, left.get(word, 0))
    count = mask.sum(axis=axes)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "SUM": lambda: values.sum(axis=axes),
            "MEAN": lambda: values.sum(axis=axes) / count,
            "PROD": lambda: values.prod(axis=axes),
            "MIN": lambda: values.min(axis=axes),
            "MAX": lambda: values.max(axis=axes),
            "COUNT": lambda: count.astype(float),
            "COUNT_NONZERO": lambda: (values != 0).sum(axis=axes),
            "ANY": lambda: (values != 0).any(axis=axes).astype(float),
            "ALL": lambda: (values != 0).all(axis=axes).astype(float),
        }[word]()


def statement(rng, values):
    name = rng.choice(list(SHAPES))
    array = values[name]
    cell = f"{name}[{','.join(LABELS[:array.ndim])}]"
    kind = rng.choice(["filter", "filter", "filter", "running", "coalesce", "nullif"])
    if kind == "coalesce":
        number = rng.randrange(9)
        text, expected = f"COALESCE({cell}, {number})", np.where(np.isnan(array), number, array)
        return f"EINSUM Z[{','.join(LABELS[:array.ndim])}] = {text}", expected
    if kind == "nullif":
        number = rng.randrange(-4, 9)
        expected = np.where(array == number, np.nan, array)
        return f"EINSUM Z[{','.join(LABELS[:array.ndim])}] = NULLIF({cell}, {number})", expected
    text, mask = condition(rng, name, array)
    if mask is None:
        with np.errstate(invalid="ignore"):
            mask = array > int(text.rsplit(" ", 1)[1])
    if kind == "running":
        d = rng.randrange(array.ndim)
        expected = np.cumsum(np.where(mask, array, 0), axis=d)
        query = f"CUMSUM[{LABELS[d]}]({cell}) FILTER (WHERE {text})"
        return f"EINSUM Z[{','.join(LABELS[:array.ndim])}] = {query}", expected
    axes = tuple(sorted(rng.sample(range(array.ndim), rng.randrange(1, array.ndim + 1))))
    kept = [LABELS[d] for d in range(array.ndim) if d not in axes]
    word = rng.choice(["SUM", "MEAN", "PROD", "MIN", "MAX", "COUNT", "COUNT_NONZERO", "ANY", "ALL"])
    over = f"[{','.join(LABELS[d] for d in axes)}]" if rng.random() < 0.5 else ""
    expected = aggregate(word, array, mask, axes)
    return f"EINSUM Z[{','.join(kept)}] = {word}{over}({cell}) FILTER (WHERE {text})", expected


def named(rng, values):
    """A statement over the names of a tensor that has some, N[name,j]."""
    array = values["N"]
    row = rng.randrange(array.shape[0])
    least = rng.randrange(array.shape[0])
    kind = rng.choice(["row", "from", "other", "range"])
    if kind == "row":
        return f"EINSUM Z[j] = N['{NAMES[row]}',j]", array[row]
    if kind == "from":
        mask = (np.arange(array.shape[0]) >= least)[:, None]
        return f"EINSUM Z[j] = SUM(CASE WHEN n >= '{NAMES[least]}' THEN N[n,j] ELSE 0 END)", (array * mask).sum(axis=0)
    if kind == "other":
        mask = (np.arange(array.shape[0]) != least)[:, None]
        return f"EINSUM Z = SUM(N[n,j]) FILTER (WHERE n <> '{NAMES[least]}')", (array * mask).sum()
    first = rng.randrange(array.shape[0] - 1)
    return f"EINSUM Z[a,b] = N[{first}::2,b]", array[first::2]


def agrees(found, expected):
    return found.shape == np.shape(expected) and np.allclose(found.astype(float), expected, equal_nan=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else STATEMENTS
    numbers = np.random.default_rng(20261129)
    rng = random.Random(20261129)
    values = arrays(numbers)
    cases = []
    for _ in range(count):
        text, expected = statement(rng, values)
        cases.append((f"COPY ({text}) TO @", np.asarray(expected, dtype=float)))
    values["M"] = numbers.integers(-4, 9, (13, 4)).astype(float)
    rows = ", ".join(f"('{name}')" for name in NAMES)
    make = f"CREATE TENSOR N (n IN (SELECT column1 FROM (VALUES {rows})), j 4) PARTITION (3, 2); "
    make += f"INSERT INTO TENSOR N SELECT n, j, M.val FROM (SELECT i, j, val, substr('0' || i, -2) AS t FROM M) M, "
    make += "(SELECT DISTINCT n FROM N) WHERE n = 'n' || t;"
    known = {"N": values["M"]}
    for _ in range(count // 4):
        text, expected = named(rng, known)
        cases.append((f"COPY ({text}) TO @", np.asarray(expected, dtype=float)))
    modes = query_modes(partitioned(PARTITIONS), PASSES)
    modes = {mode: make + before for mode, before in modes.items()}
    return compare(modes, values, cases, lambda n, found, expected: agrees(found, expected))


if __name__ == "__main__":
    sys.exit(main())
