"""Measures the bytes that the ranks of a statement receive, and compares them with predictions and with other
strategies.

Each statement has three figures: the cost model's prediction (elements moved), the planner's exact count of the tiles'
bytes, and the count of the bytes that were received, with headers. A result is delivered to the rank that asked for it
at the same cost under every strategy, so strategies are compared without this last step. `stored` is the same statement
as CREATE TENSOR AS, by the counters of the workers. It exceeds the traffic among workers if the tiles of the stored
result differ from the computed ones.
"""

import json
import tempfile
import time

import statements
from case import Outcome
from eindb_process import EindbError
from local_cluster import LocalCluster, last_step

HEARTBEAT_SECONDS = 1
MOST_OF_OTHERS = 0.999999  # the largest ratio that counts as fewer bytes than another strategy
BYTES_OF = {"FLOAT32": 4, "FLOAT64": 8}


def cases(options):
    scale = 400 if options.quick else 1000
    yield statements.chain("uniform", scale)
    yield statements.chain("skewed", scale)
    yield statements.attention(256 if options.quick else 512, 8)
    yield statements.classifier(128, 1024, 1024, 512)


class Traffic:
    """The bytes that one statement moves under one strategy."""

    def __init__(self, plan, dtype):
        self.predicted = plan["total_cost"] * BYTES_OF[dtype]
        self.exact = plan["bytes_received"]
        self.actual = plan["actual_bytes_received"]
        self.delivery = last_step(plan)["actual_bytes"]
        self.delivery_exact = last_step(plan)["bytes"]
        self.placements = [(step["step"], step["vertex"], step["placement"]) for step in plan["steps"]]

    def among_workers(self):
        return self.actual - self.delivery


def measure(shell, statement, strategy):
    """Returns the statement's traffic, or None if the strategy does not apply to it."""
    try:
        shell.execute(f"SET strategy = '{strategy}'")
        return Traffic(shell.analyze(statement.query), statement.dtype)
    except EindbError as error:
        if "strategy" not in str(error):
            raise
        return None


def received_by_workers(shell):
    """The bytes that the workers have received by their own count, which they report with their heartbeats."""
    time.sleep(2.5 * HEARTBEAT_SECONDS)
    lines = shell.execute(".mode json\nSHOW WORKERS;\n.mode list")
    return sum(worker["bytes_received"] for worker in json.loads(lines))


def stored_bytes(shell, statement):
    """The bytes that workers receive if the result of the statement is stored at them."""
    shell.execute("SET strategy = 'eindecomp'")
    before = received_by_workers(shell)
    shell.execute(f"CREATE TENSOR Stored_result AS {statement.query}")
    after = received_by_workers(shell)
    shell.drop("Stored_result")
    return after - before


def add_comparison(outcome, ours, strategy, theirs):
    """The target is fewer bytes than the other strategy moves. Equality is allowed if neither moves anything, or if
    both place all vertices alike."""
    if theirs is None:
        outcome.notes[strategy] = "does not apply"
        return
    outcome.notes[strategy] = f"{theirs.among_workers()} bytes, exact {theirs.exact - theirs.delivery_exact}"
    over = ratio(ours.among_workers(), theirs.among_workers())
    if ours.placements == theirs.placements:
        outcome.add(f"over {strategy}, placed alike", over, at_most=1.0)
    elif ours.among_workers() == theirs.among_workers() == 0:
        outcome.add(f"over {strategy}, nothing moves", over, at_most=1.0)
    else:
        outcome.add(f"over {strategy}", over, at_most=MOST_OF_OTHERS)


def ratio(ours, theirs):
    if theirs == 0:
        return 1.0 if ours == 0 else float("inf")
    return ours / theirs


def run_case(shell, statement, workers):
    outcome = Outcome("bytes", f"{statement.name}, {workers} workers")
    for definition in statement.definitions():
        shell.execute(definition)
    ours = measure(shell, statement, "eindecomp")
    outcome.add("bytes among workers", ours.among_workers())
    outcome.add("delivered", ours.delivery)
    outcome.add("of prediction", ratio(ours.actual, ours.predicted), at_most=1.0)
    outcome.add("of exact count", ratio(ours.actual, ours.exact), at_least=0.9, at_most=1.1)
    exact = ours.exact - ours.delivery_exact
    outcome.add("among workers of exact", ratio(ours.among_workers(), exact), at_least=0.9, at_most=1.1)
    outcome.add("stored", stored_bytes(shell, statement))
    for strategy in statement.strategies:
        add_comparison(outcome, ours, strategy, measure(shell, statement, strategy))
    shell.execute("SET strategy = 'eindecomp'")
    for name in statement.inputs:
        shell.drop(name)
    return outcome


def run(options):
    for workers in (4, 8):
        with tempfile.TemporaryDirectory(prefix="eindb-cluster-") as folder:
            heartbeat = ["--heartbeat", f"{HEARTBEAT_SECONDS}s"]
            with LocalCluster(options.program, folder, workers, options=heartbeat) as cluster:
                cluster.shell.execute("SET small_statements = 'workers'")
                for statement in cases(options):
                    if options.selects(statement.name):
                        yield run_case(cluster.shell, statement, workers)
