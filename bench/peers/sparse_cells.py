"""Compares contractions of tensors with scattered cells with NumPy, SciPy, PyTorch and GraphBLAS.

The tensors come into eindb by COPY of SciPy's files, of npy files and of lists of cells. Every result is compared with
SciPy's for equality. Every contestant is called in a Python program of its own, and has the seconds of --limit for a
case.
"""

import math
import os
import statistics

import numpy as np
import scipy.sparse

from case import Outcome
from context import WrongResult
from limited import PeerProgram, Stopped, measure_limited, under_limit
from rounds import median_ratio
from sparse_inputs import DENSITIES, PATTERNS, Inputs, Tensor, graph, rectangle, square, whole_numbers
from sparse_queries import QUERIES

LIBRARIES = ("scipy", "numpy", "torch", "graphblas")
SPARSE_RESULTS = ("SpGEMM", "SDDMM", "product", "sum")
COLUMNS = 32
MOST_EXTENT = {1e-1: 4_000}  # ten million cells would take a minute to prepare


class Case:
    """A workload over inputs {name: function that makes the tensor}, in the order that the peers take them."""

    def __init__(self, workload, name, inputs):
        self.workload, self.name, self.inputs = workload, f"{workload}, {name}", inputs


def cases(quick):
    """The cases in an order in which neighbours share tensors."""
    size = 2_000 if quick else 10_000
    dense = dense_arrays(size)
    for density in DENSITIES:
        extent = min(size, MOST_EXTENT.get(density, size))
        vectors = dense_arrays(extent)
        for pattern in PATTERNS:
            name = f"{extent}x{extent} {pattern} {density:.0e}"
            matrix = (name, lambda p=pattern, n=extent, d=density: square(p, n, d))
            yield Case("SpMV", name, {"S": matrix, "X": vectors["vector"]})
            yield Case("SpMM", f"{name} x{COLUMNS}", {"S": matrix, "X": vectors["columns"]})
    small = (4_000, 4_000, 16_000)
    yield Case(
        "SpMM",
        "4000x4000, 16000 cells x32",
        {"S": ("small", lambda: rectangle(*small)), "X": dense_arrays(small[0])["columns"]},
    )
    for pattern, density in [*((pattern, 1e-3) for pattern in PATTERNS), ("uniform", 1e-4)]:
        name = f"{size}x{size} {pattern} {density:.0e}"
        matrix = (name, lambda p=pattern, d=density: square(p, size, d))
        other = (name + " T", lambda p=pattern, d=density: square(p, size, d).T.tocsr())
        yield Case("SpGEMM", name, {"S": matrix, "T": other})
        yield Case("SDDMM", f"{name} k={COLUMNS}", {"S": matrix, "A": dense["columns"], "B": dense["more columns"]})
        yield Case("product", name, {"S": matrix, "T": other})
        yield Case("sum", name, {"S": matrix, "T": other})
    extents, cells, rank = ((300,) * 3, 100_000, 16) if quick else ((1000,) * 3, 1_000_000, 16)
    factors = {name: (f"factor {name}", lambda n=name: random_numbers(n, (extents[0], rank))) for name in "BC"}
    yield Case("MTTKRP", f"{cells} cells, rank {rank}", {"T": ("cells", lambda: Tensor(extents, cells)), **factors})
    edges = 100_000 if quick else 1_000_000
    for kind in ("uniform", "power-law", "lattice"):
        yield Case("triangles", f"{kind}, {edges} edges", {"S": (f"graph {kind}", lambda k=kind: graph(k, edges))})
    wide = (12_092, 9_184, 28_818)
    yield Case("total", "12092x9184x28818, 1500 cells", {"T": ("wide", lambda: Tensor(wide, 1_500))})


def random_numbers(name, shape):
    return whole_numbers(np.random.default_rng(sum(map(ord, name))), shape)


def dense_arrays(size):
    shapes = {"vector": (size,), "columns": (size, COLUMNS), "more columns": (size, COLUMNS)}
    return {name: (f"{name} {size}", lambda n=name, s=shape: random_numbers(n, s)) for name, shape in shapes.items()}


class Stored:
    """The tensors that eindb and the files have now: what the last case left is not made again."""

    def __init__(self, context):
        self._inputs = Inputs(context.eindb, context.eindb.folder)
        self._made = {}

    def files(self, case):
        for name, (key, make) in case.inputs.items():
            if self._made.get(name) != key:
                self._inputs.put(name, make())
                self._made[name] = key
        return [self._inputs.files[name] for name in case.inputs]

    def drop_all(self):
        self._inputs.drop_all()


def loaded(path):
    """A result, as a CSR matrix without zeros or as an array; the file is removed."""
    if path.endswith(".npz"):
        result = scipy.sparse.csr_matrix(scipy.sparse.load_npz(path))
        result.eliminate_zeros()
    else:
        result = np.load(path)
    os.remove(path)
    return result


def is_equal(result, expected):
    if scipy.sparse.issparse(expected) or scipy.sparse.issparse(result):
        result, expected = (scipy.sparse.csr_matrix(x if x.ndim == 2 else x[:, None]) for x in (result, expected))
        return result.shape == expected.shape and (result != expected).nnz == 0
    return np.array_equal(np.asarray(result).reshape(expected.shape), expected)


def eindb_result(context, case):
    sparse = case.workload in SPARSE_RESULTS
    path = os.path.join(context.eindb.folder, "sparse_result." + ("npz" if sparse else "npy"))
    options = "(FORMAT scipy)" if sparse else ""
    statement = f"COPY ({QUERIES[case.workload]}) TO '{path}' {options}"
    under_limit(lambda: context.eindb.execute_here(statement), context.limit)
    return loaded(path)


def run(context):
    peers = {name: PeerProgram(name, context.threads, context.limit) for name in LIBRARIES}
    own = programs_of_eindb(context)
    for name in [name for name, peer in peers.items() if peer.absent]:
        print(f"sparse: {name} takes no part: {peers.pop(name).absent}", flush=True)
    stored = Stored(context)
    context.eindb.execute(f"SET statement_timeout = '{round(1000 * context.limit)}ms'")
    ratios, hopeless = [], set()
    try:
        for case in cases(context.quick):
            if context.selects(case.name):
                outcome = run_case(context, case, stored, own, peers, hopeless)
                ratios.append((outcome.value("over the best peer"), outcome.value("at most")))
                yield outcome
    finally:
        for program in [*own.values(), *peers.values()]:
            program.close()
        context.eindb.execute("RESET statement_timeout")
        stored.drop_all()
    if ratios:
        yield total_of(ratios)


def programs_of_eindb(context):
    """Programs that call eindb over the tensors of `context.eindb`, of this build and of the earlier one, if any."""
    builds = {"eindb": context.eindb} | ({"earlier": context.eindb.earlier} if context.eindb.earlier else {})
    programs = {}
    for name, build in builds.items():
        package = os.path.join(os.path.dirname(build.program), "python")
        programs[name] = PeerProgram("eindb", context.threads, context.limit, [package, build.database])
        if programs[name].absent:
            raise RuntimeError(f"{programs[name].absent}; the target eindb_python_package makes {package}")
    return programs


def run_case(context, case, stored, own, peers, hopeless):
    outcome = Outcome("sparse", case.name)
    contestants, stopped = compared(context, case, stored.files(case), own, peers, hopeless)
    times, slow = measure_limited(contestants, min(context.rounds, 3))
    stopped.update(slow)
    outcome.seconds = {name: statistics.median(seconds) for name, seconds in times.items()}
    rivals = [name for name in peers if name in times]
    if "eindb" in times:
        for name in rivals:
            outcome.add(f"over {name}", median_ratio(times[name], times["eindb"]))
        if rivals:
            outcome.add("over the best peer", min(outcome.value(f"over {name}") for name in rivals))
        if "earlier" in times:
            outcome.add("over earlier", median_ratio(times["earlier"], times["eindb"]))
    elif rivals and stopped["eindb"].startswith("not within"):
        outcome.add("at most", min(outcome.seconds[name] for name in rivals) / context.limit)
    if stopped:
        outcome.notes["failed"] = "; ".join(f"{name}: {reason}" for name, reason in stopped.items())
    return outcome


def compared(context, case, files, own, peers, hopeless):
    """The contestants whose results are equal, and the reasons of those that have none. Raises WrongResult. `hopeless`
    are the workloads that NumPy had too little time for: it takes as long for any pattern of the cells."""
    contestants, stopped, results = {}, {}, {}
    for name, peer in peers.items():
        if name == "numpy" and case.workload in hopeless:
            stopped[name] = "had too little time before"
            continue
        try:
            peer.prepare(case.workload, files)
            results[name] = loaded(peer.result(os.path.join(context.eindb.folder, "sparse_" + name)))
            contestants[name] = peer
        except Stopped as reason:
            stopped[name] = str(reason)
            if name == "numpy" and stopped[name].startswith("not within"):
                hopeless.add(case.workload)
    try:
        results["eindb"] = eindb_result(context, case)
        for program in own.values():
            program.prepare(case.workload, files)
        contestants = {**own, **contestants}
    except Stopped as reason:
        stopped["eindb"] = str(reason)
    if not results:
        return contestants, stopped
    first = next(iter(results))
    for name, result in results.items():
        if not is_equal(result, results[first]):
            raise WrongResult(f"sparse {case.name}: {name} differs from {first}")
    return contestants, stopped


def total_of(ratios):
    """`ratios`: over the best peer, or None, and an upper bound where eindb had too little time, or None."""
    total = Outcome("sparse", f"all {len(ratios)}")
    ended = [ratio for ratio, _ in ratios if ratio is not None]
    total.add("ended", len(ended))
    if ended:
        total.add("over the best peer", statistics.geometric_mean(ended))
    bounded = [ratio if ratio is not None else bound for ratio, bound in ratios if ratio is not None or bound is not None]
    if len(bounded) > len(ended):
        total.add("at most, with those that had too little time", math.exp(statistics.fmean(map(math.log, bounded))))
    return total
