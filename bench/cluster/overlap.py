"""Measures two workers of one thread each beside one process with two threads, which needs no exchange: over sockets of
the host, which workers on one host use by themselves, and over TCP.

`speed` is that of the workers over that of the process, the median of rounds in which each has its turn. The result goes
to the shell, whose process takes it beside the workers, so that the time counts until the workers have it. The rest tells
what the slower worker did, in shares of that time; what was done beside computing makes the sum larger than 1.
"""

import contextlib
import os
import statistics
import tempfile

from case import Outcome
from eindb_process import Eindb
from local_cluster import LocalCluster
from statements import chain, layer

WORKERS = 2
WANTED = {"host": 0.95, "tcp": 0.85}
PARTS = {"computing": "seconds_computing", "waiting": "seconds_waiting", "exchanging": "seconds_exchanging",
         "assembling": "seconds_assembling"}  # fmt: skip


def cases(options):
    yield chain("uniform", 1000 if options.quick else 4000)
    yield chain("skewed", 1000 if options.quick else 2000)
    yield layer(256 if options.quick else 1024)


def contestants(stack, options):
    """The shells by name: "process", and a cluster for each transport."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="eindb-cluster-"))
    shells = {}
    for name, more in (("host", ()), ("tcp", ("--tcp-only",))):
        own = os.path.join(folder, name)
        os.makedirs(own)
        cluster = LocalCluster(options.program, own, WORKERS, options=more, worker_options=more)
        shells[name] = stack.enter_context(cluster).shell
        shells[name].execute("SET small_statements = 'workers'")
    shells["process"] = Eindb(options.program, folder, ["--threads", str(WORKERS)])
    stack.callback(shells["process"].close)
    return shells


def seconds_of(plan):
    return plan.get("seconds_before_delivery", plan["execution_seconds"])


def add_parts(outcome, name, plans):
    for part, field in PARTS.items():
        shares = [max(rank[field] for rank in plan["ranks"][:WORKERS]) / seconds_of(plan) for plan in plans]
        outcome.add(f"{name} {part}", statistics.median(shares))


def run_case(shells, statement, rounds):
    outcome = Outcome("overlap", f"{statement.name}, {WORKERS} workers")
    plans = {name: [] for name in shells}
    for shell in shells.values():
        for definition in statement.definitions():
            shell.execute(definition)
        shell.analyze(statement.query)
    for _ in range(rounds):
        for name, shell in shells.items():
            plans[name].append(shell.analyze(statement.query))
    outcome.seconds = {name: statistics.median(map(seconds_of, each)) for name, each in plans.items()}
    for name, wanted in WANTED.items():
        outcome.add(f"speed {name}", outcome.seconds["process"] / outcome.seconds[name], at_least=wanted)
        add_parts(outcome, name, plans[name])
    for shell in shells.values():
        for name in statement.inputs:
            shell.drop(name)
    return outcome


def run(options):
    with contextlib.ExitStack() as stack:
        shells = contestants(stack, options)
        for statement in cases(options):
            if options.selects(statement.name):
                yield run_case(shells, statement, options.rounds)
