"""Measures the time of a small statement, end to end through the shell: without workers, and with one, four and eight, in
the shell's process, where such a statement runs, and at the workers.

The statement multiplies two stored 8 x 8 matrices and delivers the result to the shell, so the time of its 512
multiply-adds is negligible: the overhead is measured. `execution` is the part of it that EXPLAIN ANALYZE counts: the
ranks' steps, without the beginning and the end of a statement at the workers.
"""

import contextlib
import itertools
import statistics
import tempfile
import time

from case import Outcome
from eindb_process import Eindb
from local_cluster import LocalCluster
from statements import Statement

PRODUCT = Statement(
    "product 8 x 8", "EINSUM Z[i,k] = SUM(A[i,j] * B[j,k])", {"A": (8, 8), "B": (8, 8)}, "FLOAT64", strategies=()
)
WARM_CALLS = 20


def shell_of(stack, options, workers):
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="eindb-cluster-"))
    if workers:
        return stack.enter_context(LocalCluster(options.program, folder, workers)).shell
    alone = Eindb(options.program, folder)
    stack.callback(alone.close)
    return alone


def seconds_of(shell, statement, calls):
    """The median of single calls, after some warm-up calls."""
    seconds = []
    for _ in range(WARM_CALLS + calls):
        start = time.perf_counter()
        shell.execute(statement)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[WARM_CALLS:])


def run_case(options, name, workers, where):
    outcome = Outcome("latency", name)
    calls = 100 if options.quick else 1000
    with contextlib.ExitStack() as stack:
        shell = shell_of(stack, options, workers)
        for definition in PRODUCT.definitions():
            shell.execute(definition)
        shell.execute(f"SET small_statements = '{where}'")
        nothing = seconds_of(shell, "SELECT 1", calls)
        whole = seconds_of(shell, PRODUCT.query, calls)
        execution = statistics.median(shell.seconds(PRODUCT.query) for _ in range(WARM_CALLS))
    outcome.seconds = {"statement": whole, "execution": execution, "SELECT 1": nothing}
    outcome.add("statements per second", 1 / whole)
    return outcome


def run(options):
    for workers, where in ((0, "here"), *itertools.product((1, 4, 8), ("here", "workers"))):
        name = f"{PRODUCT.name}, {workers} workers, {where}"
        if options.selects(name):
            yield run_case(options, name, workers, where)
