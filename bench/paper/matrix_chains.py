"""Experiment 1: the chain (A x B) + (C x (D x E)) of square matrices and of skewed ones.

The paper compares EinDecomp with cuts into sqrt(p) parts and with ScaLAPACK on sixteen machines, and with Dask on a
server with GPUs. Here the time on this machine's cores is measured. At the paper's sizes plans are compared: the
elements that sixteen workers would receive from each other with either way of cutting."""

import os
import statistics
import sys
import tempfile
from pathlib import Path

import chains
import scalapack
from contestants import Statement
from context import Context
from eindb_process import Eindb
from figure import Panel
from planned import make_empty, received
from round_process import RoundProcess
from rounds import measure
from table import Table

SHAPES = ("square", "skewed")
SMALL_SCALES = (500, 1000, 2000)
FULL_SCALES = (5000, 10000, 20000, 40000)
PLANNED_SCALES = (10000, 20000, 40000, 80000)
PLANNED_WORKERS = 16
DTYPE = "float32"
STRATEGIES = {"eindb, EinDecomp": "eindecomp", "eindb, sqrt": "sqrt"}
DASK = Path(__file__).with_name("dask_chain.py")


class DaskChain(RoundProcess):
    """Dask in its own process, with one thread of BLAS for each thread of Dask."""

    def __init__(self, threads, dtype, sizes):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(DASK), dtype, str(threads), *map(str, sizes)]
        super().__init__(command, "Dask", environment)
        self.description = f"{self.ready[1]} x {self.ready[1]} chunks"


def measured_seconds(context, chain, program):
    """The median seconds of every contestant. Contestants take turns."""
    chains.store(context, chain.arrays(context))
    contestants = {
        name: Statement(context.eindb, chain.query, before=f"SET strategy = '{strategy}'")
        for name, strategy in STRATEGIES.items()
    }
    peers = {"Dask": DaskChain(context.threads, DTYPE, chain.sizes)}
    if program:
        peers["ScaLAPACK"] = scalapack.fastest_chain(program, context.threads, DTYPE, chain.sizes)
    times = measure({**contestants, **peers}, context.rounds)
    for peer in peers.values():
        peer.close()
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def run_measured(options):
    names = [*STRATEGIES, "ScaLAPACK", "Dask"]
    table = Table(f"Measured on this machine, {options.threads} threads or processes, {DTYPE}: seconds",
                  ["matrices", "s", *names, *(f"{name} / EinDecomp" for name in ("sqrt", "ScaLAPACK", "Dask"))])
    panels = [Panel(f"measured, {shape} matrices", "s", "seconds", logarithmic=True) for shape in SHAPES]
    program = scalapack.build(options.build)
    with tempfile.TemporaryDirectory(prefix="eindb-paper-") as folder:
        eindb = Eindb(options.program, folder, ["--threads", str(options.threads)])
        options.cases, options.quick = "", False
        context = Context(eindb, None, options.threads, options, options.build)
        for shape, panel in zip(SHAPES, panels):
            for scale in FULL_SCALES if options.full else SMALL_SCALES:
                seconds = measured_seconds(context, chains.Chain(shape, scale, DTYPE), program)
                ours, *others = (seconds.get(name) for name in names)
                table.add(shape, scale, ours, *others, *(other and other / ours for other in others))
                for name in names:
                    panel.add(name, scale, seconds.get(name))
        eindb.close()
    return table, panels


def run_planned(options):
    table = Table(f"Planned for {PLANNED_WORKERS} workers, that are not here: elements received from other workers",
                  ["matrices", "s", "EinDecomp", "sqrt", "sqrt / EinDecomp"])
    panels = [Panel(f"planned, {shape} matrices, {PLANNED_WORKERS} workers", "s", "elements received", logarithmic=True)
              for shape in SHAPES]
    with tempfile.TemporaryDirectory(prefix="eindb-paper-") as folder:
        eindb = Eindb(options.program, folder)
        eindb.execute(f"SET workers = {PLANNED_WORKERS}")
        for shape, panel in zip(SHAPES, panels):
            for scale in PLANNED_SCALES:
                chain = chains.Chain(shape, scale, DTYPE)
                make_empty(eindb, chain.shapes())
                ours, theirs = (received(eindb, chain.query, strategy) for strategy in STRATEGIES.values())
                table.add(shape, scale, ours, theirs, theirs / ours)
                panel.add("EinDecomp", scale, ours)
                panel.add("sqrt", scale, theirs)
        eindb.close()
    return table, panels


def run(options):
    measured, measured_panels = run_measured(options)
    planned, planned_panels = run_planned(options)
    return [measured, planned], measured_panels + planned_panels
