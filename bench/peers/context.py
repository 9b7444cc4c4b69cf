"""The context that every group of measurements receives."""

import os
import re
import statistics

import numpy as np

from rounds import measure, median_ratio

PEERS = ("numpy", "torch", "scalapack")


class Context:
    """`eindb` and `machine` are running programs. `threads` is the number of cores that every contestant may use."""

    def __init__(self, eindb, machine, threads, options, build_folder):
        self.eindb = eindb
        self.machine = machine
        self.threads = threads
        self.rounds = 3 if options.quick else options.rounds
        self.quick = options.quick
        self._tries_choices = options.choices
        self.build_folder = build_folder
        self.limit = options.limit or (5 if options.quick else 20)
        self._selected = re.compile(options.cases)
        self._random = np.random.default_rng(20)

    def selects(self, case):
        return self._selected.search(case) is not None

    def random(self, shape, dtype):
        """Uniform values in [-0.5, 0.5)."""
        return self._random.random(shape, dtype=dtype) - np.asarray(0.5, dtype)

    def program(self, name):
        """The path of a program in build/bench, or None if it was not built."""
        path = os.path.join(self.build_folder, "bench", name)
        return path if os.path.exists(path) else None

    def compare(self, outcome, contestants, rounds=None):
        """Runs rounds of `eindb` and its peers. Adds times and the ratios to each peer and to the earlier build to the
        outcome. Returns the ratio to the best peer, and all times."""
        earlier = getattr(contestants["eindb"], "of_earlier_build", lambda: None)()
        if earlier:
            contestants = {"eindb": contestants["eindb"], "earlier": earlier, **contestants}
        times = measure(contestants, rounds or self.rounds)
        for name, seconds in times.items():
            outcome.seconds[name] = statistics.median(seconds)
            description = getattr(contestants[name], "description", "")
            if description:
                outcome.notes[name] = description
        ratios = {name: median_ratio(times[name], times["eindb"]) for name in PEERS if name in times}
        for name, ratio in ratios.items():
            outcome.add(f"over {name}", ratio)
        if earlier:
            outcome.add("over earlier", median_ratio(times["earlier"], times["eindb"]))
        self._compare_plan(outcome, contestants["eindb"])
        return min(ratios.values()), times

    def _compare_plan(self, outcome, statement):
        """Adds the time beside the one that the plan predicts, and beside that of the best parallelism."""
        plan = getattr(statement, "plan", None)
        if not plan:
            return
        if plan.get("predicted_seconds"):
            outcome.add("of prediction", outcome.seconds["eindb"] / plan["predicted_seconds"])
        if self._tries_choices:
            times = measure(statement.choices(), self.rounds)
            self.eindb.execute("RESET parallelism")
            medians = {name: statistics.median(seconds) for name, seconds in times.items()}
            best = min(medians, key=medians.get)
            outcome.add("over best p", median_ratio(times["chosen p"], times[best]))
            outcome.notes["best p"] = best

    def add_roofline(self, outcome, dtype, flops, bytes_read, bytes_written):
        bound = self.machine.bound_seconds(flops, dtype, bytes_read, bytes_written)
        outcome.notes["roofline seconds"] = bound
        outcome.add("of roofline", bound / outcome.seconds["eindb"])


class WrongResult(Exception):
    """A result differs from the peer's, so its time means nothing."""


def check_close(outcome, result, expected, summed):
    """Compares by the norm of the difference: the relative error of a sum of n terms is about eps sqrt(n).
    Raises WrongResult if it is much larger."""
    expected = np.asarray(expected)
    epsilon = np.finfo(expected.dtype).eps
    wide = np.promote_types(expected.dtype, np.float64)
    norm = np.linalg.norm(expected.ravel().astype(wide))
    error = np.linalg.norm((result - expected).ravel().astype(wide)) / (norm or 1.0)
    outcome.notes["relative error"] = float(error)
    if result.shape != expected.shape or not error <= 32 * epsilon * max(1.0, np.sqrt(summed)):
        raise WrongResult(f"{outcome.group} {outcome.name}: relative error {error:.3g}")
