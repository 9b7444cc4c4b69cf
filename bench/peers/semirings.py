"""Compares aggregates over other functions than products with NumPy and PyTorch in their best spelling.

The peers have no contraction but of sums of products. Their spellings here join two operands at a time, in the order
that eindb takes, and use a product of matrices wherever one gives the result.
"""

import math
import statistics

import numpy as np
import torch

from case import Outcome
from contestants import Call, Statement, fastest
from context import check_close

F32, F64 = "float32", "float64"


def rowwise(join, reduce):
    """A product of matrices over `join` and `reduce`, a row of the result at a time, which stays in the caches."""
    return lambda x, y: np.stack([reduce(join(row[:, None], y), 0) for row in x])


def torch_rowwise(join, reduce):
    return lambda x, y: torch.stack([reduce(join(row[:, None], y), 0) for row in x])


min_plus = rowwise(np.add, np.min)
max_plus = rowwise(np.add, np.max)
max_min = rowwise(np.minimum, np.max)
best_of_sums = rowwise(np.add, lambda sums, axis: np.argmax(sums, axis).astype(F64))
torch_min_plus = torch_rowwise(torch.add, torch.amin)
torch_max_plus = torch_rowwise(torch.add, torch.amax)
torch_max_min = torch_rowwise(torch.minimum, torch.amax)
torch_best_of_sums = torch_rowwise(torch.add, torch.argmax)


def log_product(x, y):
    """LOGSUMEXP of sums of rows and columns, by a product of scaled exponentials."""
    a, b = x.max(1, keepdims=True), y.max(0, keepdims=True)
    return np.log(np.exp(x - a) @ np.exp(y - b)) + a + b


def torch_log_product(x, y):
    a, b = x.amax(1, keepdim=True), y.amax(0, keepdim=True)
    return torch.log(torch.exp(x - a) @ torch.exp(y - b)) + a + b


class Workload:
    """A query over tensors A, B, ..., the spellings of the peers, and the arrays."""

    def __init__(self, name, query, arrays, numpy_ways, torch_ways, summed=1):
        self.name, self.query, self.arrays = name, query, arrays
        self.numpy_ways, self.torch_ways, self.summed = numpy_ways, torch_ways, summed


def squared(product, times):
    def run(x):
        for _ in range(times):
            x = product(x, x)
        return x

    return run


def chained(product):
    def run(*matrices):
        result = matrices[0]
        for matrix in matrices[1:]:
            result = product(result, matrix)
        return result

    return run


def matrices(context, count, size, dtype=F32):
    return [context.random((size, size), dtype) for _ in range(count)]


def viterbi(context, steps=32, states=128, batch=64):
    start = context.random((states,), F64)
    step = context.random((states, states), F64)
    seen = context.random((batch, steps, states), F64)
    terms = ["A[s0]", "C[b,0,s0]"]
    for t in range(1, steps):
        terms += [f"B[s{t - 1},s{t}]", f"C[b,{t},s{t}]"]

    def numpy_way(a, b, c):
        best = a + c[:, 0]
        for t in range(1, steps):
            best = max_plus(best, b) + c[:, t]
        return best.max(1)

    def torch_way(a, b, c):
        best = a + c[:, 0]
        for t in range(1, steps):
            best = (best[:, :, None] + b).amax(1) + c[:, t]
        return best.amax(1)

    query = f"EINSUM Z[b] = MAX({' + '.join(terms)})"
    return Workload(f"Viterbi, {steps} steps", query, [start, step, seen], [numpy_way], [torch_way])


def parsing(context, spans=48, symbols=16):
    left = context.random((spans, spans, symbols), F64)
    right = context.random((spans, spans, symbols), F64)
    rules = context.random((symbols, symbols, symbols), F64)

    def numpy_way(x, y, rules):
        pairs = np.stack([(row[:, None, :, None] + y[:, :, None, :]).max(0) for row in x])
        return np.stack([(pairs + rule).max((2, 3)) for rule in rules], axis=2)

    def torch_way(x, y, rules):
        pairs = torch.stack([(row[:, None, :, None] + y[:, :, None, :]).amax(0) for row in x])
        return torch.stack([(pairs + rule).amax((2, 3)) for rule in rules], dim=2)

    query = "EINSUM Z[i,k,a] = MAX(A[i,j,b] + B[j,k,c] + C[a,b,c])"
    return Workload("parsing (CYK)", query, [left, right, rules], [numpy_way], [torch_way])


def maxsim(context, documents=2000, tokens=64, words=32, size=128):
    asked = context.random((words, size), F32)
    stored = context.random((documents, tokens, size), F32)
    query = "EINSUM Z[d] = SUM[q](MAX[t](SUM[h](A[q,h] * B[d,t,h])))"

    def scores(q, d):
        return (d.reshape(-1, size) @ q.T).reshape(documents, tokens, words)

    return Workload(
        "MaxSim retrieval",
        query,
        [asked, stored],
        [lambda q, d: scores(q, d).max(1).sum(1)],
        [lambda q, d: scores(q, d).amax(1).sum(1)],
        summed=size,
    )


class Network:
    """A random network of tensors over `extent` values per edge, whose MAX of sums is one number. The peers contract it
    pair by pair, in the order that opt_einsum's greedy search takes."""

    def __init__(self, context, vertices, degree, extent):
        generator = np.random.default_rng(vertices)
        self.labels = self._edges(generator, vertices, degree)
        self.arrays = [context.random((extent,) * len(labels), F64) for labels in self.labels]
        self.path = self._greedy_path()

    def _greedy_path(self):
        """Joins the pair next whose result exceeds its operands by the least. A label has two tensors in the network."""
        held, path = [set(labels) for labels in self.labels], []
        while len(held) > 1:
            extent = self.arrays[0].shape[0]
            pairs = [(x, y) for y in range(len(held)) for x in range(y) if held[x] & held[y] or len(held) == 2]
            growth = [extent ** len(held[x] ^ held[y]) - extent ** len(held[x]) - extent ** len(held[y]) for x, y in pairs]
            x, y = pairs[growth.index(min(growth))]
            path.append((x, y))
            held.append(held[x] ^ held[y])
            del held[y], held[x]
        return path

    @staticmethod
    def _edges(generator, vertices, degree):
        while True:
            ends = generator.permutation(np.repeat(np.arange(vertices), degree)).reshape(-1, 2)
            pairs = {tuple(sorted(pair)) for pair in ends.tolist()}
            if all(a != b for a, b in pairs) and len(pairs) == len(ends):
                break
        return [[e for e, ends_of in enumerate(sorted(pairs)) if v in ends_of] for v in range(vertices)]

    def query(self):
        terms = [f"{name_of(n)}[{','.join(f'e{e}' for e in labels)}]" for n, labels in enumerate(self.labels)]
        return f"EINSUM Z[] = MAX({' + '.join(terms)})"

    def contract(self, arrays, amax):
        held = list(zip(arrays, self.labels))
        for step in self.path:
            chosen = [held.pop(n) for n in sorted(step, reverse=True)]
            kept = {e for _, labels in held for e in labels}
            held.append(self._join(chosen, kept, amax))
        return held[0][0]

    @staticmethod
    def _join(chosen, kept, amax):
        labels = sorted({e for _, of in chosen for e in of})
        total = 0
        for array, of in chosen:
            order = sorted(range(len(of)), key=lambda d: of[d])
            shape = [array.shape[of.index(e)] if e in of else 1 for e in labels]
            total = total + (array.transpose(order) if isinstance(array, np.ndarray) else array.permute(order)).reshape(shape)
        gone = tuple(d for d, e in enumerate(labels) if e not in kept)
        return (amax(total, gone) if gone else total), [e for e in labels if e in kept]


def network(context, vertices, degree, extent):
    made = Network(context, vertices, degree, extent)
    return Workload(
        f"tropical network of {vertices}",
        made.query(),
        made.arrays,
        [lambda *arrays: made.contract(arrays, np.max)],
        [lambda *arrays: made.contract(arrays, torch.amax)],
    )


def workloads(context):
    n = 256 if context.quick else 512
    graph = (context.random((n, n), F32) > 0.45).astype(F32)
    distances = np.where(context.random((n, n), F32) > 0.4, np.float32(np.inf), context.random((n, n), F32) + 1)
    weights = [(3 * context.random((n, n), F64)) for _ in range(6)]
    return [
        Workload("shortest paths, one step", "EINSUM Z[i,k] = MIN(A[i,j] + A[j,k])", [distances], [squared(min_plus, 1)],
                 [squared(torch_min_plus, 1)]),  # fmt: skip
        Workload("shortest paths by squaring", "EINSUM Z[i,m] = MIN(A[i,j] + A[j,k] + A[k,l] + A[l,m])", [distances],
                 [squared(min_plus, 2)], [squared(torch_min_plus, 2)]),  # fmt: skip
        Workload("longest paths through three layers", "EINSUM Z[i,l] = MAX(A[i,j] + B[j,k] + C[k,l])",
                 matrices(context, 3, n), [chained(max_plus)], [chained(torch_max_plus)]),  # fmt: skip
        viterbi(context),
        Workload("back-pointers of longest paths", "EINSUM Z[i,k] = ARGMAX[j](A[i,j] + B[j,k])", matrices(context, 2, n),
                 [best_of_sums], [torch_best_of_sums]),  # fmt: skip
        parsing(context),
        Workload("reachability in three steps", "EINSUM Z[i,l] = ANY(A[i,j] > 0 AND A[j,k] > 0 AND A[k,l] > 0)", [graph],
                 [lambda x: (x @ np.minimum(x @ x, 1) > 0).astype(F64)],
                 [lambda x: (x @ (x @ x).clamp(max=1) > 0).double()]),  # fmt: skip
        Workload("bottleneck paths", "EINSUM Z[i,l] = MAX(LEAST(A[i,j], A[j,k], A[k,l]))", matrices(context, 1, n),
                 [lambda x: max_min(max_min(x, x), x)], [lambda x: torch_max_min(torch_max_min(x, x), x)]),  # fmt: skip
        Workload("triangles", "EINSUM Z[] = COUNT_NONZERO(A[i,j] > 0 AND A[j,k] > 0 AND A[i,k] > 0)", [graph],
                 [lambda x: ((x @ x) * x).sum(dtype=F64)], [lambda x: ((x @ x) * x).sum(dtype=torch.float64)]),  # fmt: skip
        Workload("log-partition of a chain", "EINSUM Z[] = LOGSUMEXP(A[a,b] + B[b,c] + C[c,d] + D[d,e] + E[e,f] + F[f,g])",
                 weights, [lambda *x: _log_total(chained(log_product)(*x), np)],
                 [lambda *x: torch.logsumexp(chained(torch_log_product)(*x).reshape(-1), 0)]),  # fmt: skip
        maxsim(context, documents=500 if context.quick else 2000),
        network(context, 8, 3, 16),
        network(context, 40, 3, 4),
    ]


def _log_total(x, module):
    greatest = x.max()
    return module.log(module.exp(x - greatest).sum()) + greatest


def name_of(n):
    return chr(ord("A") + n) if n < 26 else f"T{n}"


def run(context):
    ratios = []
    for workload in workloads(context):
        if context.selects(workload.name):
            outcome = run_workload(context, workload)
            ratios.append(min(outcome.value("over numpy"), outcome.value("over torch")))
            yield outcome
    if ratios:
        total = Outcome("semirings", f"all {len(ratios)}")
        total.add("over the best peer", math.exp(statistics.fmean(map(math.log, ratios))), at_least=10)
        yield total


def run_workload(context, workload):
    outcome = Outcome("semirings", workload.name)
    names = [name_of(n) for n in range(len(workload.arrays))]
    for name, array in zip(names, workload.arrays):
        context.eindb.store(name, array)
    tensors = [torch.from_numpy(array) for array in workload.arrays]
    numpy_call = fastest([Call(lambda way=way: way(*workload.arrays)) for way in workload.numpy_ways])
    torch_call = fastest([Call(lambda way=way: way(*tensors)) for way in workload.torch_ways])
    expected = np.asarray(numpy_call.function())
    check_close(outcome, context.eindb.array(workload.query), expected, workload.summed * 100)
    contestants = {"eindb": Statement(context.eindb, workload.query), "numpy": numpy_call, "torch": torch_call}
    context.compare(outcome, contestants, min(context.rounds, 3))
    for name in names:
        context.eindb.drop(name)
    return outcome
