"""Experiment 2: training steps of a large feed-forward classifier, beside data-parallel PyTorch.

The paper trains on AmazonCat-14K (597,540 features, 14,588 labels) with 8192 hidden units and batches of 128 and 512,
on four GPUs. Here steps of smaller models are measured, by eindb in a loop of statements and by PyTorch with one
process and with four, connected by gloo. At the paper's sizes plans for four workers are compared: the elements that
workers would receive from each other under EinDecomp, and if only the batch is cut, which is data parallelism."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ffnn
from eindb_process import Eindb
from figure import Panel
from planned import make_empty, received
from rounds import measure
from table import Table

PEER = Path(__file__).with_name("torch_data_parallel.py")
STEPS = 8  # per turn
SMALL = {"hidden": 1024, "labels": 1024, "batches": (128, 512), "features": (1024, 2048, 4096, 8192)}
FULL = {"hidden": 8192, "labels": 14588, "batches": (128, 512), "features": (8192, 32768, 131072)}
PAPER_FEATURES = (8192, 32768, 131072, 597540)
PLANNED_WORKERS = 4
GRADIENTS = (
    "GRADIENT OF L[] = MEAN[b](LOGSUMEXP[l](SUM(RELU(SUM(X[b,i] * W1[i,h])) * W2[h,l])) - "
    "SUM[l](T[b,l] * SUM(RELU(SUM(X[b,i] * W1[i,h])) * W2[h,l]))) WITH RESPECT TO (W1, W2)"
)


class Training:
    """Training steps of one model in eindb: a loop of statements, which finally writes the weights to the database."""

    def __init__(self, eindb, model):
        from torch_data_parallel import inputs

        x, t = inputs(model.batch, model.features, model.labels)
        self._eindb = eindb
        for name, values in (("X", x[None]), ("T", t[None])):
            eindb.store(name, values)
        for name in ("W1", "W2", "losses"):
            eindb.drop(name)
        for statement in ffnn.weight_script(model):
            eindb.execute(statement)
        self._loop = f"REPEAT {STEPS} COMMIT EVERY {STEPS} {{ REPEAT 1 AS n {{ {ffnn.step(model)} }} }}"

    def seconds(self):
        """The elapsed time of one step, with its share of the commit at the end of the loop."""
        start = time.perf_counter()
        self._eindb.execute(self._loop)
        return (time.perf_counter() - start) / STEPS


class DataParallel:
    """Processes of PyTorch that share a batch, and the cores."""

    def __init__(self, ranks, threads, folder, model):
        meeting = tempfile.NamedTemporaryFile(dir=folder, delete=False).name
        each = max(1, threads // ranks)
        sizes = [model.batch, model.features, model.hidden, model.labels]
        self._processes = [
            subprocess.Popen(
                [sys.executable, str(PEER), *map(str, [rank, ranks, meeting, each, *sizes])],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for rank in range(ranks)
        ]
        if self._processes[0].stdout.readline().strip() != "ready":
            raise RuntimeError("PyTorch did not start")

    def seconds(self):
        for process in self._processes:
            process.stdin.write(f"{STEPS}\n")
            process.stdin.flush()
        return float(self._processes[0].stdout.readline())

    def close(self):
        for process in self._processes:
            process.stdin.close()
        for process in self._processes:
            process.wait()


def run_measured(options):
    sizes = FULL if options.full else SMALL
    names = ["eindb", "PyTorch, 1 process", "PyTorch, 4 processes"]
    table = Table(
        f"Measured, {sizes['hidden']} hidden units, {sizes['labels']} labels, {options.threads} threads: seconds a step",
        ["batch", "features", *names, *(f"{name} / eindb" for name in names[1:])],
    )
    panels = [Panel(f"measured, batch {batch}", "features", "seconds per step") for batch in sizes["batches"]]
    with tempfile.TemporaryDirectory(prefix="eindb-paper-") as folder:
        eindb = Eindb(options.program, folder, ["--threads", str(options.threads)])
        for batch, panel in zip(sizes["batches"], panels):
            for features in sizes["features"]:
                model = ffnn.Classifier(1, batch, features, sizes["hidden"], sizes["labels"])
                peers = {name: DataParallel(ranks, options.threads, folder, model)
                         for name, ranks in zip(names[1:], (1, 4))}
                times = measure({"eindb": Training(eindb, model), **peers}, options.rounds)
                for peer in peers.values():
                    peer.close()
                seconds = [statistics.median(times[name]) for name in names]
                table.add(batch, features, *seconds, *(theirs / seconds[0] for theirs in seconds[1:]))
                for name, value in zip(names, seconds):
                    panel.add(name, features, value)
        eindb.close()
    return table, panels


def run_planned(options):
    table = Table(
        f"Planned for {PLANNED_WORKERS} workers, that are not here: {FULL['hidden']} hidden units, {FULL['labels']} "
        "labels; elements that they receive from each other in a step",
        ["batch", "features", "EinDecomp", "data parallel", "data parallel / EinDecomp"],
    )
    panels = []
    with tempfile.TemporaryDirectory(prefix="eindb-paper-") as folder:
        eindb = Eindb(options.program, folder)
        for batch in FULL["batches"]:
            title = f"planned, batch {batch}, {PLANNED_WORKERS} workers"
            panel = Panel(title, "features", "elements received", logarithmic=True)
            panels.append(panel)
            for features in PAPER_FEATURES:
                shapes = {"X": (batch, features), "T": (batch, FULL["labels"]), "W1": (features, FULL["hidden"]),
                          "W2": (FULL["hidden"], FULL["labels"])}
                eindb.execute("RESET strategy")
                make_empty(eindb, shapes)
                eindb.execute(f"SET workers = {PLANNED_WORKERS}")
                ours, theirs = received(eindb, GRADIENTS, "eindecomp"), received(eindb, GRADIENTS, "data(b)")
                table.add(batch, features, ours, theirs, theirs / ours)
                panel.add("EinDecomp", features, ours)
                panel.add("data parallel", features, theirs)
        eindb.close()
    return table, panels


def run(options):
    measured, measured_panels = run_measured(options)
    planned, planned_panels = run_planned(options)
    return [measured, planned], measured_panels + planned_panels
