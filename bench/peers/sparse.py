"""Compares products in which one factor or both have 10 % of their blocks with the product of dense factors, and tensors
with scattered cells with sparse ones of the peers (sparse_cells)."""

import statistics

import numpy as np

from case import Outcome
from contestants import Statement
from context import check_close
from rounds import measure, median_ratio

QUERY = "EINSUM Z[i,k] = SUM({x}[i,j] * {y}[j,k])"


def block_sparse(context, size, block, density):
    """Random blocks, of which the share `density` is not zero. The others become absent tiles, for which all their
    values must be +0. Multiplication by a mask would make some of them negative zeros, which are stored."""
    blocks = size // block
    generator = np.random.default_rng(10)
    present = np.zeros(blocks * blocks, dtype=bool)
    present[generator.permutation(blocks * blocks)[: round(density * blocks * blocks)]] = True
    mask = np.kron(present.reshape(blocks, blocks), np.ones((block, block), dtype=bool))
    return np.where(mask, context.random((size, size), "float32"), np.float32(0))


def run(context):
    size = 4096 if context.quick else 8192
    for block in (256, 512):
        name = f"{size}x{size}, blocks of {block}, float32"
        if context.selects(name):
            yield run_size(context, name, size, block)
    try:
        import sparse_cells
    except ImportError as error:
        print(f"sparse: scattered cells are not measured: {error}", flush=True)
        return
    yield from sparse_cells.run(context)


def run_size(context, name, size, block):
    outcome = Outcome("sparse", name)
    grid = (size // block, size // block)
    arrays = {
        "S": block_sparse(context, size, block, 0.1),
        "T": block_sparse(context, size, block, 0.1).T.copy(),
        "X": context.random((size, size), "float32"),
        "Y": context.random((size, size), "float32"),
    }
    for tensor, array in arrays.items():
        context.eindb.store(tensor, array, grid)
    queries = {
        "dense": QUERY.format(x="X", y="Y"),
        "sparse x dense": QUERY.format(x="S", y="Y"),
        "sparse x sparse": QUERY.format(x="S", y="T"),
    }
    check_close(outcome, context.eindb.array(queries["sparse x dense"]), arrays["S"] @ arrays["Y"], size)
    contestants = {case: Statement(context.eindb, query) for case, query in queries.items()}
    earlier = {case: statement.of_earlier_build() for case, statement in contestants.items()}
    contestants |= {f"earlier {case}": statement for case, statement in earlier.items() if statement}
    times = measure(contestants, min(context.rounds, 3))
    outcome.seconds = {case: statistics.median(values) for case, values in times.items()}
    for case in ("sparse x dense", "sparse x sparse"):
        outcome.add(case, median_ratio(times["dense"], times[case]), at_least=6)
    for case, statement in earlier.items():
        if statement:
            outcome.add("over earlier", median_ratio(times[f"earlier {case}"], times[case]))
    for tensor in arrays:
        context.eindb.drop(tensor)
    return outcome
