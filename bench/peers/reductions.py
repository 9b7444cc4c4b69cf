"""Compares reductions with one pass over their inputs at the machine's bandwidth, and with the peers."""

import numpy as np
import torch

from case import Outcome
from contestants import Call, Statement, fastest
from context import check_close

F32, F64 = "float32", "float64"
CUBE = (256, 512, 512)


class Reduction:
    """A query over X and sometimes Y, its spellings for the peers, and the shapes of the inputs."""

    def __init__(self, name, query, numpy_ways, torch_ways, shapes=(CUBE,), dtype=F32, within=1.3):
        self.name = f"{name} {dtype}"
        self.query = query
        self.numpy_ways, self.torch_ways = numpy_ways, torch_ways
        self.shapes = shapes
        self.dtype = dtype
        self.within = within  # None if arithmetic is the bound, not memory


def sum_reduction(subscripts, axes, dtype=F32, order=None):
    labels, result = subscripts.split("->")
    query = f"EINSUM '{subscripts}' (X)"
    permuted = order or tuple(range(3 - len(axes)))
    return Reduction(
        subscripts,
        query,
        [lambda x: x.sum(axis=axes).transpose(permuted), lambda x: np.einsum(subscripts, x)],
        [lambda x: x.sum(dim=axes).permute(permuted), lambda x: torch.einsum(subscripts, x)],
        dtype=dtype,
    )


REDUCTIONS = [
    Reduction(
        "abc,def->",
        "EINSUM 'abc,def->' (X, Y)",
        [lambda x, y: x.sum() * y.sum()],  # einsum would loop over all pairs
        [lambda x, y: x.sum() * y.sum()],
        shapes=((256, 256, 512), (256, 256, 512)),
    ),
    sum_reduction("abc->", (0, 1, 2)),
    sum_reduction("abc->", (0, 1, 2), F64),
    sum_reduction("abc->a", (1, 2)),
    sum_reduction("abc->b", (0, 2)),
    sum_reduction("abc->c", (0, 1)),
    sum_reduction("abc->ab", (2,)),
    sum_reduction("abc->ac", (1,)),
    sum_reduction("abc->bc", (0,)),
    sum_reduction("abc->ca", (1,), order=(1, 0)),
    sum_reduction("abc->c", (0, 1), F64),
    Reduction(
        "a,a->",
        "EINSUM Z[] = SUM(X[a] * Y[a])",
        [lambda x, y: x @ y],
        [lambda x, y: x @ y],
        shapes=((2**25,), (2**25,)),
    ),
    Reduction(
        "sum of squares",
        "EINSUM Z[a] = SUM(X[a,b,c]^2)",
        [lambda x: np.einsum("abc,abc->a", x, x), lambda x: np.square(x).sum(axis=(1, 2))],
        [lambda x: x.square().sum(dim=(1, 2)), lambda x: torch.einsum("abc,abc->a", x, x)],
    ),
    Reduction(
        "max of the last label",
        "EINSUM Z[a,b] = MAX(X[a,b,c])",
        [lambda x: x.max(axis=2)],
        [lambda x: x.amax(dim=2)],
    ),
    Reduction(
        "min of the first label",
        "EINSUM Z[b,c] = MIN(X[a,b,c])",
        [lambda x: x.min(axis=0)],
        [lambda x: x.amin(dim=0)],
    ),
    Reduction(
        "mean of the middle label",
        "EINSUM Z[a,c] = MEAN(X[a,b,c])",
        [lambda x: x.mean(axis=1)],
        [lambda x: x.mean(dim=1)],
    ),
    Reduction(
        "argmax of the last label",
        "EINSUM Z[a,b] = ARGMAX[c](X[a,b,c])",
        [lambda x: x.argmax(axis=2)],
        [lambda x: x.argmax(dim=2)],
    ),
    Reduction(
        "argmax of differences",
        "EINSUM Z[a] = ARGMAX[b](ABS(X[a,b] - Y[a,b]))",
        [lambda x, y: np.abs(x - y).argmax(axis=1)],
        [lambda x, y: (x - y).abs().argmax(dim=1)],
        shapes=((4096, 8192), (4096, 8192)),
    ),
    Reduction(
        "largest difference",
        "EINSUM Z[] = MAX(ABS(X[a,b] - Y[a,b]))",
        [lambda x, y: np.abs(x - y).max()],
        [lambda x, y: (x - y).abs().amax()],
        shapes=((4096, 8192), (4096, 8192)),
    ),
    Reduction(
        "log-sum-exp of the last label",
        "EINSUM Z[a,b] = LOGSUMEXP(X[a,b,c])",
        [lambda x: np.log(np.exp(x).sum(axis=2))],
        [lambda x: x.logsumexp(dim=2)],
        within=None,
    ),
]


def run_reduction(context, reduction):
    outcome = Outcome("reductions", reduction.name)
    arrays = [context.random(shape, reduction.dtype) for shape in reduction.shapes]
    for name, array in zip("XY", arrays):
        context.eindb.store(name, array)
    tensors = [torch.from_numpy(array) for array in arrays]
    numpy_call = fastest([Call(lambda way=way: way(*arrays)) for way in reduction.numpy_ways])
    torch_call = fastest([Call(lambda way=way: way(*tensors)) for way in reduction.torch_ways])
    expected = np.asarray(numpy_call.function())
    if expected.dtype.kind == "i":
        expected = expected.astype(np.float64)
    check_close(outcome, context.eindb.array(reduction.query), expected, arrays[0].size // expected.size)
    contestants = {"eindb": Statement(context.eindb, reduction.query), "numpy": numpy_call, "torch": torch_call}
    contestants["pass"] = Pass(context.machine, sum(array.nbytes for array in arrays))
    speedup, times = context.compare(outcome, contestants)
    outcome.add("speed-up", speedup)
    ratios = [ours / bound for ours, bound in zip(times["eindb"], times["pass"])]
    outcome.add("of one pass", float(np.median(ratios)), at_most=reduction.within)
    return outcome


class Pass:
    """A contestant whose time is one pass over the inputs at the bandwidth that is measured in the same turn."""

    def __init__(self, machine, size):
        self._machine, self._size = machine, size

    def seconds(self):
        return self._size / (1e9 * self._machine.measure("read"))


def run(context):
    for reduction in REDUCTIONS:
        if context.selects(reduction.name):
            yield run_reduction(context, reduction)
