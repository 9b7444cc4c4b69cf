"""Calls of eindb.einsum beside numpy.einsum and torch.einsum: products from 2 x 2 to 4096 x 4096, and thirty networks.

NumPy's time is that of its faster spelling, with `optimize` or without, PyTorch's that of its one. NumPy chooses an
order in each call. eindb keeps plans, so that there are two times for a network: of a repeated call, and of one
that is planned, as nobody asked for it before.
"""

import math
import os
import random
import statistics
import sys
import time

import numpy as np
import torch

from case import Outcome
from context import check_close
from python_networks import networks
from spellings import EINSUM_LOOP_LIMIT, parse

SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048, 4096)
QUICK_SIZES = (2, 8, 64, 512)
PRODUCTS = {"product": "ij,jk->ik", "by a vector": "ij,j->i"}
LOOP_SECONDS = 0.002
NEW_CALLS = 5


class Loop:
    """Calls in a row, of about LOOP_SECONDS together; the time is that of one."""

    def __init__(self, function, description=""):
        self.function = function
        self.description = description
        start = time.perf_counter()
        function()
        first = time.perf_counter() - start
        if first < LOOP_SECONDS:
            start = time.perf_counter()
            function()
            first = time.perf_counter() - start
        self.count = max(1, int(LOOP_SECONDS / first))

    def seconds(self):
        start = time.perf_counter()
        for _ in range(self.count):
            self.function()
        return (time.perf_counter() - start) / self.count


class NewCall:
    """Calls of a network that were not planned yet: operands in another order, looked at with other dimensions first.
    The time is the median of NEW_CALLS in a row, since what follows a pause runs in cold caches."""

    is_first_call = True

    def __init__(self, einsum, subscripts, arrays):
        self._einsum = einsum
        self._subscripts = subscripts
        self._arrays = arrays
        self._random = random.Random(11)
        self._known = set()

    def _another(self):
        terms, result = parse(self._subscripts)
        operands = []
        for term, array in zip(terms, self._arrays):
            axes = self._random.sample(range(array.ndim), array.ndim)
            operands.append(("".join(term[axis] for axis in axes), array.transpose(axes)))
        self._random.shuffle(operands)
        return ",".join(term for term, _ in operands) + "->" + result, [array for _, array in operands]

    def seconds(self):
        return statistics.median(self._one() for _ in range(NEW_CALLS))

    def _one(self):
        subscripts, arrays = self._another()
        while subscripts in self._known:
            subscripts, arrays = self._another()
        self._known.add(subscripts)
        start = time.perf_counter()
        self._einsum(subscripts, *arrays)
        return time.perf_counter() - start


def cases(quick):
    """Names, subscripts, and shapes of operands."""
    for kind, subscripts in PRODUCTS.items():
        for n in QUICK_SIZES if quick else SIZES:
            yield f"{kind}, {n} x {n}", subscripts, [(n,) * len(term) for term in parse(subscripts)[0]]
    for name, subscripts, shapes in list(networks())[:: 5 if quick else 1]:
        yield f"network: {name}", subscripts, shapes


def extents_of(subscripts, shapes):
    return {label: extent for term, shape in zip(parse(subscripts)[0], shapes) for label, extent in zip(term, shape)}


def loop_rounds(subscripts, shapes):
    """The rounds of one nest of loops over all labels."""
    return math.prod(extents_of(subscripts, shapes).values())


def from_left_rounds(subscripts, shapes):
    """The rounds of products of pairs from left to right, as PyTorch takes them."""
    extents = extents_of(subscripts, shapes)
    terms, result = parse(subscripts)
    labels, rounds = set(terms[0]), 0
    for n, term in enumerate(terms[1:], start=1):
        labels |= set(term)
        rounds += math.prod(extents[label] for label in labels)
        labels &= set("".join(terms[n + 1 :]) + result)
    return rounds


def contestants_of(einsum, subscripts, arrays):
    shapes = [array.shape for array in arrays]
    spellings = [Loop(lambda: np.einsum(subscripts, *arrays, optimize=True), "einsum, optimize=True")]
    if loop_rounds(subscripts, shapes) <= EINSUM_LOOP_LIMIT and len(extents_of(subscripts, shapes)) <= 32:
        spellings.append(Loop(lambda: np.einsum(subscripts, *arrays), "einsum"))
    contestants = {
        "eindb": Loop(lambda: einsum(subscripts, *arrays)),
        "numpy": min(spellings, key=lambda spelling: min(spelling.seconds() for _ in range(3))),
    }
    if len(arrays) == 2 or from_left_rounds(subscripts, shapes) <= 100 * EINSUM_LOOP_LIMIT:
        tensors = [torch.from_numpy(array) for array in arrays]
        contestants["torch"] = Loop(lambda: torch.einsum(subscripts, *tensors))
    if len(arrays) > 2:
        contestants["planned"] = NewCall(einsum, subscripts, arrays)
    return contestants


def compared(context, einsum, name, subscripts, arrays):
    outcome = Outcome("python", name)
    expected = np.einsum(subscripts, *arrays, optimize=True)
    # The error that sums of products have is in proportion to those of absolute values.
    result = np.asarray(einsum(subscripts, *arrays))
    if expected.ndim > 0:
        check_close(outcome, result, expected, loop_rounds(subscripts, [a.shape for a in arrays]) / max(1, expected.size))
    worst, times = context.compare(outcome, contestants_of(einsum, subscripts, arrays))
    outcome.add("behind in microseconds", 1e6 * behind(times["eindb"], times), at_most=25)
    outcome.add("over the better", worst)
    if "planned" in times:
        planned = statistics.median(times["planned"])
        outcome.add("planned, over the better", best_peer(times) / planned)
    return outcome


def best_peer(times):
    return min(statistics.median(times[name]) for name in ("numpy", "torch") if name in times)


def behind(seconds, times):
    return max(0.0, statistics.median(seconds) - best_peer(times))


def print_means(outcomes):
    products = [outcome for outcome in outcomes if not outcome.name.startswith("network")]
    of_networks = [outcome for outcome in outcomes if outcome.name.startswith("network")]
    for what, group, figure in (
        ("products", products, "over the better"),
        ("networks, repeated", of_networks, "over the better"),
        ("networks, planned anew", of_networks, "planned, over the better"),
        ("all, repeated", outcomes, "over the better"),
    ):
        ratios = [outcome.value(figure) for outcome in group]
        if ratios:
            mean = statistics.geometric_mean(ratios)
            print(f"python: {mean:.3f} over the better of both, the geometric mean of {len(ratios)} {what}")
    missed = [outcome.name for outcome in outcomes if outcome.value("behind in microseconds") > 25]
    print(f"python: more than 25 microseconds behind in {len(missed)} cases" + "".join(f"; {name}" for name in missed))


def run(context):
    sys.path.append(os.path.join(context.build_folder, "python"))
    try:
        import eindb
    except ImportError as error:
        print(f"the Python package is absent: {error}")
        return
    outcomes = []
    for name, subscripts, shapes in cases(context.quick):
        if not context.selects(name):
            continue
        arrays = [context.random(shape, np.float64) for shape in shapes]
        outcomes.append(compared(context, eindb.einsum, name, subscripts, arrays))
        yield outcomes[-1]
    print_means(outcomes)
