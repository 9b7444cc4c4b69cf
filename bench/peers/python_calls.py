"""Calls of eindb.einsum beside numpy.einsum and torch.einsum, from 2 x 2 to 4096 x 4096, and of networks."""

import os
import statistics
import sys
import time

import numpy as np
import torch

from case import Outcome
from context import check_close

SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
QUICK_SIZES = (2, 8, 64, 512)
PRODUCTS = {"product": "ij,jk->ik", "by a vector": "ij,j->i"}
NETWORKS = {
    "chain of three": ("ij,jk,kl->il", "ij jk kl"),
    "chain of six": ("ab,bc,cd,de,ef,fg->ag", "ab bc cd de ef fg"),
    "bilinear": ("bi,ij,bj->b", "bi ij bj"),
    "sum of products": ("ij,ij->", "ij ij"),
}
NETWORK_SIZES = (2, 8, 32, 128)
LOOP_SECONDS = 0.002


class Loop:
    """Calls in a row, of about LOOP_SECONDS together; the time is that of one."""

    def __init__(self, function, description=""):
        self.function = function
        self.description = description
        start = time.perf_counter()
        function()
        function()
        self.count = max(1, int(LOOP_SECONDS / ((time.perf_counter() - start) / 2)))

    def seconds(self):
        start = time.perf_counter()
        for _ in range(self.count):
            self.function()
        return (time.perf_counter() - start) / self.count


def cases(quick):
    """Names, subscripts, and shapes of operands."""
    for kind, subscripts in PRODUCTS.items():
        for n in QUICK_SIZES if quick else SIZES:
            yield f"{kind}, {n} x {n}", subscripts, [(n,) * len(term) for term in subscripts.partition("->")[0].split(",")]
    for kind, (subscripts, terms) in NETWORKS.items():
        for n in NETWORK_SIZES[:2] if quick else NETWORK_SIZES:
            yield f"{kind}, {n}", subscripts, [(n,) * len(term) for term in terms.split()]


def run(context):
    sys.path.append(os.path.join(context.build_folder, "python"))
    try:
        import eindb
    except ImportError as error:
        print(f"the Python package is absent: {error}")
        return
    ratios = []
    for name, subscripts, shapes in cases(context.quick):
        if not context.selects(name):
            continue
        arrays = [context.random(shape, np.float64) for shape in shapes]
        tensors = [torch.from_numpy(array) for array in arrays]
        outcome = Outcome("python", name)
        expected = np.einsum(subscripts, *arrays, optimize=True)
        check_close(outcome, np.asarray(eindb.einsum(subscripts, *arrays)), expected, max(shapes[0]) ** 2)
        # Plain einsum is faster where operands are small, an order and BLAS where they are not.
        plain = Loop(lambda s=subscripts, a=arrays: np.einsum(s, *a), "einsum") if max(shapes[0]) <= 256 else None
        ordered = Loop(lambda s=subscripts, a=arrays: np.einsum(s, *a, optimize=True), "einsum, optimize=True")
        contestants = {
            "eindb": Loop(lambda s=subscripts, a=arrays: eindb.einsum(s, *a)),
            "numpy": min((c for c in (plain, ordered) if c), key=lambda c: min(c.seconds() for _ in range(5))),
            "torch": Loop(lambda s=subscripts, t=tensors: torch.einsum(s, *t)),
        }
        worst, times = context.compare(outcome, contestants)
        outcome.add("microseconds", 1e6 * statistics.median(times["eindb"]))
        ratios.append(worst)
        yield outcome
    if ratios:
        mean = statistics.geometric_mean(ratios)
        print(f"python: {mean:.3f} over the better of both, the geometric mean of {len(ratios)} cases")
