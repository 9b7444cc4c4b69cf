"""The matrix chains (A x B) + (C x (D x E)) of the paper on EinDecomp, with square and with skewed matrices."""

import statistics

import torch

from case import Outcome
from contestants import Call, Statement, fastest
from context import check_close
from rounds import median_ratio, turn
from scalapack import build, fastest_chain

QUERY = (
    "WITH AB[i,k] = SUM({A}[i,j] * {B}[j,k]), DE[l,k] = SUM({D}[l,m] * {E}[m,k]), "
    "CDE[i,k] = SUM({C}[i,l] * DE[l,k]) EINSUM Z[i,k] = AB[i,k] + CDE[i,k]"
)
NAMES = "ABCDE"


class Chain:
    """One chain: its sizes, inputs and contestants."""

    def __init__(self, shape, scale, dtype):
        tenth = scale // 10
        self.shape, self.scale, self.dtype = shape, scale, dtype
        self.name = f"{shape} s={scale} {dtype}"
        # M, K1, N, K2, K3: A is M x K1, B is K1 x N, C is M x K2, D is K2 x K3, E is K3 x N.
        self.sizes = (scale,) * 5 if shape == "square" else (scale, tenth, scale, tenth, 10 * scale)
        self.query = QUERY.format(**{name: name for name in NAMES})

    def shapes(self):
        m, k1, n, k2, k3 = self.sizes
        return {"A": (m, k1), "B": (k1, n), "C": (m, k2), "D": (k2, k3), "E": (k3, n)}

    def flops(self):
        m, k1, n, k2, k3 = self.sizes
        return 2.0 * (m * k1 * n + k2 * k3 * n + m * k2 * n)

    def summed(self):
        return sum(self.sizes[n] for n in (1, 3, 4))

    def arrays(self, context):
        return {name: context.random(shape, self.dtype) for name, shape in self.shapes().items()}


def chains():
    return [
        Chain(shape, scale, dtype)
        for shape in ("square", "skewed")
        for scale in (2000, 4000)
        for dtype in ("float32", "float64")
    ]


def numpy_chain(arrays):
    a, b, c, d, e = (arrays[name] for name in NAMES)

    def in_place():
        z = a @ b
        z += c @ (d @ e)
        return z

    return [Call(lambda: a @ b + c @ (d @ e), "a @ b + c @ (d @ e)"), Call(in_place, "z = a @ b; z += c @ (d @ e)")]


def torch_chain(arrays):
    a, b, c, d, e = (torch.from_numpy(arrays[name]) for name in NAMES)
    return [
        Call(lambda: torch.addmm(a @ b, c, d @ e), "addmm(a @ b, c, d @ e)"),
        Call(lambda: (a @ b).addmm_(c, d @ e), "(a @ b).addmm_(c, d @ e)"),
    ]


def store(context, arrays):
    for name, array in arrays.items():
        context.eindb.store(name, array)


def run_chain(context, chain, scalapack_program):
    outcome = Outcome("chains", chain.name)
    arrays = chain.arrays(context)
    store(context, arrays)
    numpy_call, torch_call = fastest(numpy_chain(arrays)), fastest(torch_chain(arrays))
    check_close(outcome, context.eindb.array(chain.query), numpy_call.function(), chain.summed())
    contestants = {"eindb": Statement(context.eindb, chain.query), "numpy": numpy_call, "torch": torch_call}
    if scalapack_program:
        contestants["scalapack"] = fastest_chain(scalapack_program, context.threads, chain.dtype, chain.sizes)
    contestants["peak"] = Peak(context.machine, chain)
    speedup, times = context.compare(outcome, contestants)
    single = chain.dtype == "float32"
    outcome.add("speed-up", speedup, at_least=1.05 if single else 1.0)
    outcome.add("of peak", median_ratio(times["peak"], times["eindb"]), at_least=0.88 if single else 0.85)
    for peer in ("numpy", "torch"):
        outcome.notes[f"{peer} of peak"] = median_ratio(times["peak"], times[peer])
    if "scalapack" in contestants:
        contestants["scalapack"].close()
    return outcome


class Peak:
    """A contestant whose time is that of the chain at the peak performance, which is measured in the same turn."""

    def __init__(self, machine, chain):
        self._machine = machine
        self._chain = chain

    def seconds(self):
        name = "fp32" if self._chain.dtype == "float32" else "fp64"
        return self._chain.flops() / (1e9 * self._machine.measure(name))


def run(context):
    program = build(context.build_folder)
    if not program:
        print("ScaLAPACK is absent: script/bootstrap --bench installs it")
    for chain in chains():
        if context.selects(chain.name):
            yield run_chain(context, chain, program)


def run_scaling(context):
    """Runs the same chains with one thread and with all threads, in turns."""
    for chain in chains():
        if not context.selects(chain.name):
            continue
        outcome = Outcome("scaling", chain.name)
        store(context, chain.arrays(context))
        one = Statement(context.eindb, chain.query, "SET threads = 1")
        every = Statement(context.eindb, chain.query, f"SET threads = {context.threads}")
        seconds = {1: [], context.threads: []}
        for _ in range(context.rounds):
            seconds[1].append(turn(one))
            seconds[context.threads].append(turn(every))
        for threads, values in seconds.items():
            outcome.seconds[f"{threads} threads"] = statistics.median(values)
        efficiency = median_ratio(seconds[1], seconds[context.threads]) / context.threads
        outcome.add("per core", efficiency, at_least=0.9)
        context.eindb.execute("RESET threads")
        yield outcome
