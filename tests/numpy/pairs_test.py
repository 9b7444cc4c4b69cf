#!/usr/bin/python3
"""Compares aggregates of functions of two and of three operands with NumPy: every aggregate with every function of two
values, of operands of every type, as they are, converted or changed by a function of their own; whole and cut into
tiles, with little memory, without passes, and on three workers."""
import random
import sys

import numpy as np

from modes import compare, partitioned, query_modes

CASES = 400
SIZE = 17  # more than the least for which there are kernels of pairs, and extremes with their indices
TYPES = {"BOOL": np.bool_, "INT8": np.int8, "INT64": np.int64, "FLOAT32": np.float32, "FLOAT64": np.float64}
PASSES = ("inlining,elementwise_fusion,chain_fusion,common_subexpressions,selection_pushdown,plain_operands,"
          "constant_folding,early_summation,repeated_joins,placed_extremes,input_types")

# Text of a function of x and y, and what it is in NumPy, of numbers in double precision.
FUNCTIONS = [
    ("{} + {}", lambda x, y: x + y), ("{} - {}", lambda x, y: x - y), ("{} * {}", lambda x, y: x * y),
    ("LEAST({}, {})", np.minimum), ("GREATEST({}, {})", np.maximum), ("{} = {}", lambda x, y: x == y),
    ("{} <> {}", lambda x, y: x != y), ("{} < {}", lambda x, y: x < y), ("{} >= {}", lambda x, y: x >= y),
    ("({}) AND ({})", lambda x, y: (x != 0) & (y != 0)), ("({}) OR ({})", lambda x, y: (x != 0) | (y != 0)),
    ("({}) XOR ({})", lambda x, y: (x != 0) ^ (y != 0)), ("ABS(({}) - ({}))", lambda x, y: np.abs(x - y)),
    ("(({}) - ({}))^2", lambda x, y: (x - y) ** 2),
]
JOINS = {"SUM": ["{} * {}"], "MAX": ["{} + {}", "LEAST({}, {})"], "MIN": ["{} + {}", "GREATEST({}, {})"],
         "ANY": ["({}) AND ({})"], "ALL": ["({}) OR ({})"], "LOGSUMEXP": ["{} + {}"]}
AGGREGATES = {
    "SUM": lambda v: v.sum(-1), "MEAN": lambda v: v.mean(-1), "MAX": lambda v: v.max(-1), "MIN": lambda v: v.min(-1),
    "ANY": lambda v: (v != 0).any(-1), "ALL": lambda v: (v != 0).all(-1),
    "COUNT_NONZERO": lambda v: (v != 0).sum(-1), "ARGMAX": lambda v: v.argmax(-1), "ARGMIN": lambda v: v.argmin(-1),
    "LOGSUMEXP": lambda v: np.log(np.exp(v).sum(-1)), "PROD": lambda v: v.prod(-1), "NORM": lambda v: np.sqrt((v * v).sum(-1)),
}
CHANGES = [("{}", lambda x: x)] * 6 + [
    ("2 * {}", lambda x: 2 * x), ("({} > 0)", lambda x: x > 0), ("(NOT {})", lambda x: x == 0),
    ("CAST({} AS FLOAT32)", lambda x: x), ("CAST({} AS FLOAT64)", lambda x: x),
    ("CAST({} / 2 AS INT64)", lambda x: np.trunc(x / 2)), ("({} - 1)", lambda x: x - 1)]


def operand(rng, labels):
    """The text of a changed operand with these labels, and its values."""
    name = rng.choice(list(VALUES))
    text, change = rng.choice(CHANGES)
    return text.format(f"{name}[{labels}]"), np.asarray(change(VALUES[name].astype(np.float64))).astype(np.float64)


def case(rng):
    aggregate = rng.choice(list(AGGREGATES))
    x, y = operand(rng, "i,j"), operand(rng, "j,k")
    if aggregate in JOINS and rng.random() < 0.3:
        text = rng.choice(JOINS[aggregate])
        function = dict(FUNCTIONS)[text]
        z = operand(rng, "k,l")
        values = function(x[1][:, :, None, None], function(y[1][None, :, :, None], z[1][None, None, :, :]))
        values = np.moveaxis(values, 3, 1).reshape(SIZE, SIZE, -1).astype(np.float64)
        body = text.format(x[0], text.format(y[0], z[0]))
        return f"EINSUM Z[i,l] = {aggregate}[j,k]({body})", AGGREGATES[aggregate](values)
    text, function = rng.choice(FUNCTIONS)
    values = np.moveaxis(function(x[1][:, :, None], y[1][None, :, :]), 1, 2).astype(np.float64)
    head = rng.choice(["i,k", "k,i"])
    expected = AGGREGATES[aggregate](values)
    return f"EINSUM Z[{head}] = {aggregate}[j]({text.format(x[0], y[0])})", expected.T if head == "k,i" else expected


def large(rng):
    """Whole numbers that FLOAT64 does not tell apart."""
    x, y = LARGE["L"], LARGE["M"]
    if rng.random() < 0.5:
        text, function = rng.choice([f for f in FUNCTIONS if f[0] in ("{} + {}", "{} - {}", "LEAST({}, {})")])
        aggregate = rng.choice(["ARGMAX", "ARGMIN"])
        values = np.moveaxis(function(x[:, :, None], y[None, :, :]), 1, 2)
        return f"EINSUM Z[i,k] = {aggregate}[j]({text.format('L[i,j]', 'M[j,k]')})", AGGREGATES[aggregate](values)
    text, function = rng.choice([f for f in FUNCTIONS if f[0] in ("{} = {}", "{} <> {}", "{} < {}", "{} >= {}")])
    aggregate = rng.choice(["SUM", "MAX", "MIN", "ANY", "ALL", "COUNT_NONZERO"])
    values = np.moveaxis(function(x[:, :, None], y[None, :, :]), 1, 2)
    body = rng.choice(["{}", "CAST({} AS FLOAT64)", "CAST({} AS FLOAT32)"]).format(text.format("L[i,j]", "M[j,k]"))
    return f"EINSUM Z[i,k] = {aggregate}[j]({body})", AGGREGATES[aggregate](values.astype(np.float64))


def agrees(_, found, expected):
    tolerance = (1e-5, 1e-5) if found.dtype == np.float32 else (1e-12, 1e-12)
    return found.shape == expected.shape and np.allclose(found, expected, *tolerance)


def main():
    rng = random.Random(20261128)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    wanted = [case(rng) for _ in range(count)] + [large(rng) for _ in range(count // 10)]
    modes = query_modes(partitioned({name: (3, 2) for name in {**VALUES, **LARGE}}), PASSES)
    return compare(modes, {**VALUES, **LARGE}, [(f"COPY ({text}) TO @", expected) for text, expected in wanted], agrees)


GENERATOR = np.random.default_rng(28)
VALUES = {f"{kind}{n}": GENERATOR.integers(0 if kind == "BOOL" else -2, 2 if kind == "BOOL" else 3, (SIZE, SIZE)).astype(
    TYPES[kind]) for kind in TYPES for n in (1, 2)}
LARGE = {name: 2 ** 53 + GENERATOR.integers(0, 3, (SIZE, SIZE)) for name in "LM"}

if __name__ == "__main__":
    sys.exit(main())
