"""Reads at computed indices, their gradients, reshapes, running sums, order and factorisations, beside NumPy and PyTorch;
and narrow types beside FLOAT32."""

import statistics

import numpy as np
import torch

from case import Outcome
from contestants import Call, Statement, fastest
from rounds import measure, median_ratio
from context import check_close

F32 = "float32"


class Indexing:
    """A query over X, Y and the indices I, and its spellings for the peers; `wanted` is the least speed-up over the
    faster of them."""

    def __init__(self, name, query, numpy_way, torch_way, shapes, indices=None, wanted=1.0):
        self.name = name
        self.query = query
        self.numpy_way, self.torch_way = numpy_way, torch_way
        self.shapes = shapes
        self.indices = indices  # their number, and the extent that they are below
        self.wanted = wanted


def fourier(name, shape):
    return Indexing(name, "EINSUM Z[i,j] = FFT[j](X[i,j])", np.fft.fft, None, (shape,))


def convolution(name, image, filters):
    """3 x 3 filters over a batch of images of several channels, with a frame of zeros."""
    return Indexing(
        name,
        f"EINSUM Z[b,o,y {image[2]},x {image[3]}] = SUM(X[b,c,y+p-1,x+q-1 PAD 0] * Y[o,c,p,q])",
        None,
        lambda x, y: torch.nn.functional.conv2d(x, y, padding=1),
        (image, filters),
        wanted=0.8,
    )


CASES = [
    Indexing(
        "gather of 2,048 of 32,000 x 1,024",
        "EINSUM Z[s,d] = X[I[s],d]",
        lambda x, i: x[i],
        lambda x, i: x[i],
        ((32000, 1024),),
        indices=(2048, 32000),
        wanted=1 / 1.2,
    ),
    Indexing(
        "scatter-add of 2,048 rows, its gradient",
        "EINSUM Z[v 32000,d] = SUM[s](CASE WHEN v = I[s] THEN X[s,d] ELSE 0 END)",
        None,
        lambda x, i: torch.zeros(32000, 1024).index_add_(0, i, x),
        ((2048, 1024),),
        indices=(2048, 32000),
    ),
    Indexing("every second row in reverse", "EINSUM Z[i,j] = X[::-2,:]", lambda x: x[::-2].copy(),
             lambda x: torch.flip(x[1::2], (0,)).contiguous(), ((8192, 2048),)),
    Indexing("the 50 greatest of each 100,000", "EINSUM Z[i,k] = TOPK[s, k 50](X[i,s])", None,
             lambda x: torch.topk(x, 50)[0], ((64, 100000),)),
    Indexing("sorted rows of 100,000", "EINSUM Z[i,s] = SORT[s](X[i,s])", lambda x: np.sort(x, axis=1),
             lambda x: torch.sort(x)[0], ((64, 100000),), wanted=0.5),
    Indexing("differences of rows", "EINSUM Z[i,j] = X[1:,:] - X[:-1,:]", lambda x: x[1:] - x[:-1],
             lambda x: x[1:] - x[:-1], ((8192, 2048),)),
    Indexing("five points of a plane", "EINSUM Z[i,j] = X[1:-1,2:] + X[1:-1,:-2] + X[2:,1:-1] + X[:-2,1:-1] - 4 * X[1:-1,1:-1]",
             lambda x: x[1:-1, 2:] + x[1:-1, :-2] + x[2:, 1:-1] + x[:-2, 1:-1] - 4 * x[1:-1, 1:-1],
             lambda x: x[1:-1, 2:] + x[1:-1, :-2] + x[2:, 1:-1] + x[:-2, 1:-1] - 4 * x[1:-1, 1:-1], ((4096, 4096),)),
    convolution("3 x 3 convolution, 64 channels of 56 x 56", (4, 64, 56, 56), (64, 64, 3, 3)),
    convolution("3 x 3 convolution, 128 channels of 28 x 28", (4, 128, 28, 28), (128, 128, 3, 3)),
    convolution("3 x 3 convolution, 512 channels of 7 x 7", (4, 512, 7, 7), (512, 512, 3, 3)),
    Indexing("cumsum of the last label", "EINSUM Z[i,j] = CUMSUM[j](X[i,j])", lambda x: np.cumsum(x, 1),
             lambda x: torch.cumsum(x, 1), ((4096, 4096),)),
    Indexing("cumsum of the first label", "EINSUM Z[i,j] = CUMSUM[i](X[i,j])", lambda x: np.cumsum(x, 0),
             lambda x: torch.cumsum(x, 0), ((4096, 4096),)),
    Indexing("a reshape that changes places", "EINSUM Z[(i,k),j] = X[i,(j 64, k)]",
             lambda x: x.reshape(64, 64, 4096).transpose(0, 2, 1).reshape(64 * 4096, 64).copy(),
             lambda x: x.reshape(64, 64, 4096).transpose(1, 2).reshape(64 * 4096, 64).contiguous(), ((64, 64 * 4096),)),
    fourier("FFT of 1,024 lines of 1,024", (1024, 1024)),
    fourier("FFT of 64 lines of 100,000", (64, 100000)),
    Indexing("QR of 1,000 x 500", "WITH (Q, R) = QR(X[i,j]) EINSUM Z[k,l] = ABS(R[k,l]) + 0 * Q[0,k]",
             lambda x: np.abs(np.linalg.qr(x)[1]), lambda x: torch.linalg.qr(x)[1].abs(), ((1000, 500),), wanted=0.9),
    Indexing("SVD of 1,000 x 500", "WITH (U, s, V) = SVD(X[i,j]) EINSUM Z[k] = s[k] + 0 * U[0,k] + 0 * V[0,k]",
             lambda x: np.linalg.svd(x, full_matrices=False)[1],
             lambda x: torch.linalg.svd(x, full_matrices=False)[1], ((1000, 500),), wanted=0.9),
]

# The type, and the least speed-up of a product of a matrix of it and a FLOAT32 vector over a FLOAT32 matrix.
NARROW = [("BFLOAT16", 1.6), ("FLOAT16", 1.6), ("INT8", 3)]


def run_narrow(context, dtype, wanted):
    """A matrix times a vector beside the same values in FLOAT32."""
    outcome = Outcome("indexing", f"{dtype} matrix of 8,192 x 8,192 times a vector")
    for name, stored in (("W", "FLOAT32"), ("N", dtype)):
        context.eindb.drop(name)
        context.eindb.execute(f"CREATE TENSOR {name} {stored} AS EINSUM Z[i 8192, j 8192] = ROUND(20 * RANDN(1))")
    context.eindb.store("X", context.random((8192,), F32))
    queries = {name: f"EINSUM Z[i] = SUM({name}[i,j] * X[j])" for name in "WN"}
    check_close(outcome, context.eindb.array(queries["N"]), context.eindb.array(queries["W"]), 8192)
    contestants = {"eindb": Statement(context.eindb, queries["N"]), "float32": Statement(context.eindb, queries["W"])}
    times = measure(contestants, context.rounds)
    for name, seconds in times.items():
        outcome.seconds[name] = statistics.median(seconds)
    outcome.add("over FLOAT32", median_ratio(times["float32"], times["eindb"]), at_least=wanted)
    for name in "WN":
        context.eindb.drop(name)
    return outcome


def run_case(context, case):
    outcome = Outcome("indexing", case.name)
    arrays = [context.random(shape, F32) for shape in case.shapes]
    for name, array in zip("XY", arrays):
        context.eindb.store(name, array)
    if case.indices:
        count, below = case.indices
        arrays.append(np.random.default_rng(count).integers(0, below, count))
        context.eindb.store("I", arrays[-1])
    tensors = [torch.from_numpy(array) for array in arrays]
    contestants = {"eindb": Statement(context.eindb, case.query)}
    if case.numpy_way:
        contestants["numpy"] = fastest([Call(lambda: case.numpy_way(*arrays))])
    if case.torch_way:
        contestants["torch"] = fastest([Call(lambda: case.torch_way(*tensors))])
    result = context.eindb.array(case.query)
    expected = np.asarray(contestants["torch" if case.torch_way else "numpy"].function())
    check_close(outcome, result, expected.astype(result.dtype), 4096)
    speedup, _ = context.compare(outcome, contestants)
    outcome.add("speed-up", speedup, at_least=case.wanted)
    return outcome


def run(context):
    for case in CASES:
        if context.selects(case.name):
            yield run_case(context, case)
    for dtype, wanted in NARROW:
        if context.selects(dtype):
            yield run_narrow(context, dtype, wanted)
