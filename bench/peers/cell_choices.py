"""Compares the plans that are chosen for sparse tensors with the same statements computed from dense tiles alone, and from
cells wherever that is possible: 60 cases of shape, pattern and density. Results are compared for equality."""

import statistics

import numpy as np

from case import Outcome
from contestants import Statement
from context import WrongResult
from limited import LimitedStatement, Stopped, measure_limited, under_limit
from rounds import median_ratio
from sparse_inputs import PATTERNS, Inputs, square

# Workload, extent, query, and the shapes of its dense operands.
SHAPES = (
    ("matrix times vector", 4_000, "EINSUM Z[i] = SUM(S[i,j] * X[j])", {"X": (4_000,)}),
    ("matrix times 32 columns", 2_000, "EINSUM Z[i,k] = SUM(S[i,j] * Y[j,k])", {"Y": (2_000, 32)}),
    ("matrix times itself", 1_000, "EINSUM Z[i,k] = SUM(S[i,j] * S[j,k])", {}),
)
DENSITIES = (3e-1, 1e-1, 1e-2, 1e-3, 1e-4)
# By contestant, the settings of its statements.
CHOICES = {
    "eindb": ("RESET disabled_passes", "RESET tile_format"),
    "dense tiles": ("SET disabled_passes = 'cells'", "RESET tile_format"),
    "cells": ("RESET disabled_passes", "SET tile_format = 'sparse'"),
}
MOST_OVER_BEST = 1.25
MOST_OVER_DENSE = 1.1


class Chosen:
    """A statement under the settings of a choice."""

    def __init__(self, eindb, query, settings):
        self._eindb = eindb
        self._settings = settings
        self._statement = Statement(eindb, query)

    def seconds(self):
        for setting in self._settings:
            self._eindb.execute_here(setting)
        return self._statement.seconds()

    @property
    def predicted(self):
        return self._statement.plan["predicted_seconds"] if self._statement.plan else None

    @property
    def choices(self):
        """What was chosen: kernels, partition vectors, and which operands and results are of cells."""
        plan = self._statement.plan
        vertices = [(vertex.get("kernel"), vertex.get("partition")) for vertex in plan["vertices"]]
        return vertices, [(one["operator"], one.get("grid"), "cells" in one) for one in plan["operators"]]


def run(context):
    """Yields the outcome of each case, and one of all."""
    inputs = Inputs(context.eindb, context.eindb.folder)
    context.eindb.execute(f"SET statement_timeout = '{round(1000 * context.limit)}ms'")
    outcomes = []
    try:
        for workload, extent, query, dense in SHAPES:
            for name, shape in dense.items():
                inputs.put(name, np.random.default_rng(3).integers(1, 5, shape).astype("float64"))
            for pattern in PATTERNS:
                for density in DENSITIES:
                    name = f"{workload}, {extent}x{extent} {pattern} {density:.0e}"
                    if not context.selects(name):
                        continue
                    inputs.put("S", square(pattern, extent, density))
                    outcomes.append(run_case(context, name, query, density))
                    yield outcomes[-1]
    finally:
        context.eindb.execute("RESET statement_timeout")
        for setting in CHOICES["eindb"]:
            context.eindb.execute(setting)
        inputs.drop_all()
    if outcomes:
        yield total_of(outcomes)


def run_case(context, name, query, density):
    outcome = Outcome("choices", name)
    statements = {choice: Chosen(context.eindb, query, settings) for choice, settings in CHOICES.items()}
    results = {}
    for choice, settings in CHOICES.items():
        for setting in settings:
            context.eindb.execute_here(setting)
        try:
            results[choice] = under_limit(lambda: context.eindb.array(query), context.limit)
        except Stopped:
            continue
        if not np.array_equal(results[choice], next(iter(results.values()))):
            raise WrongResult(f"choices {name}: {choice} differs")
    contestants = {choice: LimitedStatement(statements[choice], context.limit) for choice in results}
    times, stopped = measure_limited(contestants, context.rounds)
    outcome.seconds = {choice: statistics.median(seconds) for choice, seconds in times.items()}
    fixed = [choice for choice in times if choice != "eindb"]
    if "eindb" in times and fixed:
        over = {choice: over_choice(statements, times, choice) for choice in fixed}
        outcome.add("over the best", max(over.values()), at_most=MOST_OVER_BEST)
        if density >= 0.3 and "dense tiles" in over:
            outcome.add("over dense", over["dense tiles"], at_most=MOST_OVER_DENSE)
        predicted = {choice: statements[choice].predicted for choice in times}
        outcome.add("predicted over the least", predicted["eindb"] / min(predicted.values()), at_most=1.001)
        for choice in times:
            outcome.add(f"of prediction, {choice}", outcome.seconds[choice] / predicted[choice])
    if stopped:
        outcome.notes["failed"] = "; ".join(f"{choice}: {reason}" for choice, reason in stopped.items())
    return outcome


def over_choice(statements, times, choice):
    """The time over that of a fixed choice; 1 where that is what was chosen, as times of one plan differ by chance."""
    if statements["eindb"].choices == statements[choice].choices:
        return 1.0
    return median_ratio(times["eindb"], times[choice])


def total_of(outcomes):
    total = Outcome("choices", f"all {len(outcomes)}")
    for figure in ("over the best", "over dense", "predicted over the least"):
        values = [outcome.value(figure) for outcome in outcomes if outcome.value(figure) is not None]
        if not values:
            continue
        total.add(f"{figure}, mean", statistics.geometric_mean(values))
        total.add(f"{figure}, worst", max(values))
    missed = sum(not figure.met() for outcome in outcomes for figure in outcome.figures if figure.name == "over the best")
    total.add("not among the best", missed, at_most=0)
    return total
