"""Compares eindb with ScaLAPACK's pdgemm on both matrix chains in fp64, on four ranks of one thread each. eindb runs
over TCP, and over MPI where that is built. The contestants take turns.

The operands and the result of pdgemm are distributed over its ranks. eindb's inputs are distributed, too: they are
sharded, and every round reads them from the workers' own files. `tcp` and `mpi` are the time until the last rank has
its part of the result. `tcp delivered` is the time of the whole statement, whose result goes to the coordinator. `tcp
stored` is the time of CREATE TENSOR AS, which writes the result to the workers' files and commits it. `one process` is
eindb without workers, on as many threads as cores.
"""

import contextlib
import os
import shutil
import statistics
import tempfile
import time

import statements
from case import Outcome
from eindb_process import Eindb
from local_cluster import LocalCluster
from openblas import prepare_environment
from rounds import measure, median_ratio
from scalapack import ScalapackChain, build
from scalapack_chains import SHAPES, Trials

RANKS = 4
BLOCKS = (128, 256, 512)
STEPS = (128, 256)


class Analyzed:
    """The time of a statement until its result lies distributed over the ranks. `delivered` lists the time of each
    round until the result is delivered."""

    def __init__(self, shell, query):
        self._shell, self._query = shell, query
        self.delivered = []

    def seconds(self):
        plan = self._shell.analyze(self._query)
        self.delivered.append(plan["execution_seconds"])
        return plan.get("seconds_before_delivery", plan["execution_seconds"])


class Stored:
    """The time of CREATE TENSOR AS, as the shell's user measures it."""

    def __init__(self, shell, query):
        self._shell, self._query = shell, query

    def seconds(self):
        self._shell.drop("Stored_result")
        start = time.perf_counter()
        self._shell.execute(f"CREATE TENSOR Stored_result AS {self._query}")
        return time.perf_counter() - start


def has_mpi(options):
    plugin = os.path.join(options.build, "libeindb_mpi.so")
    return os.path.exists(plugin) and shutil.which("mpirun") is not None


def mpi_shell(program, folder):
    """Starts eindb with one rank per process. Rank 0 is the shell."""
    waiting = ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    ranks = ["-n", str(RANKS), "--allow-run-as-root", "--oversubscribe", *waiting]
    return Eindb("mpirun", folder, [*ranks, program, "--threads", "1", "--mpi"])


def prepared(shell, statement):
    for definition in statement.definitions():
        shell.execute(definition)
    return shell


def opponents(stack, options, statement):
    """The contestants of eindb by name. The inputs are stored in each of their databases."""

    def folder():
        return stack.enter_context(tempfile.TemporaryDirectory(prefix="eindb-cluster-"))

    workers = prepared(stack.enter_context(LocalCluster(options.program, folder(), RANKS)).shell, statement)
    alone = Eindb(options.program, folder(), ["--threads", str(os.cpu_count())])
    stack.callback(alone.close)
    found = {
        "tcp": Analyzed(workers, statement.query),
        "tcp stored": Stored(workers, statement.query),
        "one process": Analyzed(prepared(alone, statement), statement.query),
    }
    if has_mpi(options):
        ranks = mpi_shell(options.program, folder())
        stack.callback(ranks.close)
        found["mpi"] = Analyzed(prepared(ranks, statement), statement.query)
    return found


def run_case(options, program, shape, scale):
    statement = statements.chain(shape, scale)
    outcome = Outcome("scalapack", statement.name)
    sizes = statements.chain_sizes(shape, scale)
    way = Trials(program, RANKS, sizes, 1).best_way(BLOCKS, STEPS)
    with contextlib.ExitStack() as stack:
        contestants = opponents(stack, options, statement)
        contestants["scalapack"] = ScalapackChain(program, RANKS, "float64", sizes, *way)
        stack.callback(contestants["scalapack"].close)
        for contestant in contestants.values():
            contestant.seconds()  # a warm-up, since the first round reads files
        times = measure(contestants, options.rounds)
    outcome.seconds = {name: statistics.median(seconds) for name, seconds in times.items()}
    outcome.seconds["tcp delivered"] = statistics.median(contestants["tcp"].delivered[-options.rounds :])
    outcome.notes["pdgemm"] = "block {}, {} rows of the grid, step {}".format(*way)
    for name, at_least in (("tcp", 0.85), ("mpi", 1.0)):
        if name in times:
            outcome.add(f"{name} over scalapack", median_ratio(times["scalapack"], times[name]), at_least=at_least)
    return outcome


def run(options):
    prepare_environment(1)
    program = build(options.build)
    if not program:
        print("ScaLAPACK is absent: script/bootstrap --bench installs it")
        return
    for shape in SHAPES:
        for scale in (2000,) if options.quick else (2000, 4000):
            if options.selects(statements.chain(shape, scale).name):
                yield run_case(options, program, shape, scale)
