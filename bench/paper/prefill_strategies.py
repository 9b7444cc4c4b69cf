"""Experiment 3: LLaMA's prefill under EinDecomp and under the usual ways to partition it.

The paper runs the model of 7 billion parameters on eight GPUs: 4096 tokens with several batch sizes, then two sweeps
over the number of GPUs. These sizes are planned here: EXPLAIN (COMPARE) gives the elements that workers would receive
from each other under every strategy. A small model also runs on workers of this machine with one thread each, which
gives seconds and the bytes that workers received."""

import json
import statistics
import tempfile
from pathlib import Path

import numpy as np

import llama
import random_checkpoint
from eindb_process import Eindb, EindbError
from figure import Panel
from local_cluster import LocalCluster, last_step
from table import Table

STRATEGIES = ("eindecomp", "megatron", "sequence", "attention")
PAPER_LAYERS = 32
PLANNED_LAYERS = 8  # without --full; all layers are alike, and each adds to the planning time
PAPER = {"features": 4096, "heads": 32, "groups": 32, "feed_forward": 11008, "vocabulary": 32000}
# Each sweep by its varying parameter, as (batch, tokens, workers) of each point.
PAPER_SWEEPS = {
    "batch": [(batch, 4096, 8) for batch in (1, 2, 4, 8, 16)],
    "workers, batch 8, 1024 tokens": [(8, 1024, workers) for workers in (2, 4, 8)],
    "workers, batch 4, 4096 tokens": [(4, 4096, workers) for workers in (2, 4, 8)],
    "tokens": [(4, tokens, 8) for tokens in (1024, 2048, 4096)],
}
SMALL = {"layers": 2, "features": 256, "heads": 8, "groups": 8, "feed_forward": 704, "vocabulary": 1000}
LARGE = {"layers": 4, "features": 1024, "heads": 16, "groups": 16, "feed_forward": 2816, "vocabulary": 32000}
SMALL_SWEEPS = {
    "batch": [(batch, 128, 4) for batch in (1, 2, 4)],
    "workers": [(4, 128, workers) for workers in (2, 4, 8)],
    "tokens": [(2, tokens, 4) for tokens in (64, 128, 256)],
}
LARGE_SWEEPS = {
    "batch": [(batch, 512, 8) for batch in (1, 2, 4, 8, 16)],
    "workers": [(8, 512, workers) for workers in (2, 4, 8, 16)],
    "tokens": [(4, tokens, 8) for tokens in (256, 512, 1024, 2048)],
}


def varied(sweep, point):
    batch, tokens, workers = point
    return {"batch": batch, "tokens": tokens, "workers": workers}[sweep.split(",")[0]]


def query(config, tokens):
    return llama.query(config, f"EINSUM Z[b,v] = L[b,{tokens - 1},v]")


def make_empty(eindb, config, batch, tokens):
    """Creates the model's and the prompt's tensors, of zeros, which take no space. Plans do not depend on values."""
    pairs = config.head_features // 2
    shapes = {**llama.weights(config), "X_0": (batch, tokens, config.features), "rotation": (tokens, pairs, 2, 2)}
    for name, shape in shapes.items():
        eindb.drop(f'"{name}"')
        dimensions = ", ".join(f"d{n} {extent}" for n, extent in enumerate(shape))
        eindb.execute(f'CREATE TENSOR "{name}" ({dimensions}) FLOAT32')


def planned_elements(eindb, config, point):
    """{strategy: elements that workers would receive from each other}, for all strategies of EXPLAIN (COMPARE)."""
    batch, tokens, workers = point
    make_empty(eindb, config, batch, tokens)
    eindb.execute(f"SET workers = {workers}")
    plan = json.loads(eindb.execute(f"EXPLAIN (COMPARE, FORMAT json) {query(config, tokens)}"))
    return {row["strategy"]: row["elements_received"] for row in plan["strategies"] if "elements_received" in row}


def run_planned(options):
    layers = PAPER_LAYERS if options.full else PLANNED_LAYERS
    config = llama.Config.of(random_checkpoint.config_entries(layers=layers, **PAPER))
    table = Table(
        f"Planned, for workers that are not here: LLaMA-7B, {layers} of its {PAPER_LAYERS} layers; elements that they "
        "receive from each other",
        ["batch", "tokens", "workers", *STRATEGIES, *(f"{name} / eindecomp" for name in STRATEGIES[1:])],
    )
    panels, known = [], {}
    with tempfile.TemporaryDirectory(prefix="eindb-paper-") as folder:
        eindb = Eindb(options.program, folder)
        for sweep, points in PAPER_SWEEPS.items():
            panel = Panel(f"planned, LLaMA-7B over {sweep}", sweep.split(",")[0], "elements received", logarithmic=True)
            panels.append(panel)
            for point in points:
                if point not in known:
                    known[point] = planned_elements(eindb, config, point)
                costs = known[point]
                ours = costs["eindecomp"]
                table.add(*point, *(costs[name] for name in STRATEGIES),
                          *(costs[name] / ours for name in STRATEGIES[1:]))
                for name in STRATEGIES:
                    panel.add(name, varied(sweep, point), costs[name])
        eindb.close()
    return table, panels


class MeasuredModel:
    """A small model with random weights, whose tensors lie at the workers of a cluster."""

    def __init__(self, shell, config_entries, folder):
        self._shell = shell
        self._config = llama.Config.of(config_entries)
        for statement in llama.load_script(self._config, folder):
            shell.execute(statement)

    def prompt(self, batch, tokens):
        self._shell.execute("RESET strategy")
        random = np.random.default_rng(tokens)
        prompt = random.integers(self._config.vocabulary, size=(batch, tokens)).tolist()
        for statement in llama.prompt_script(self._config, prompt):
            self._shell.execute(statement)
        self._query = query(self._config, tokens)

    def run(self, strategy):
        """(seconds, bytes that workers receive from each other), or None where the strategy does not apply."""
        try:
            self._shell.execute(f"SET strategy = '{strategy}'")
            plan = self._shell.analyze(self._query)
        except EindbError as error:
            if "strategy" not in str(error):
                raise
            return None
        return plan["execution_seconds"], plan["actual_bytes_received"] - last_step(plan)["actual_bytes"]


def turns(model, rounds):
    """{strategy: (median seconds, bytes)}. The strategies take turns. The first run of each is a warm-up."""
    runs = {strategy: [] for strategy in STRATEGIES if model.run(strategy)}
    for _ in range(rounds):
        for strategy, taken in runs.items():
            taken.append(model.run(strategy))
    return {
        name: (statistics.median(seconds for seconds, _ in taken), taken[0][1]) for name, taken in runs.items()
    }


def run_measured(options):
    entries = random_checkpoint.config_entries(**(LARGE if options.full else SMALL))
    sweeps = LARGE_SWEEPS if options.full else SMALL_SWEEPS
    table = Table(
        f"Measured, {entries['num_hidden_layers']} layers of {entries['hidden_size']} features, on workers of one "
        "thread each of this machine",
        ["batch", "tokens", "workers", "strategy", "seconds", "bytes among workers", "seconds / eindecomp",
         "bytes / eindecomp"],
    )
    panels = {sweep: Panel(f"measured, small model over {sweep}", sweep, "MB that workers receive") for sweep in sweeps}
    counts = sorted({workers for points in sweeps.values() for _, _, workers in points})
    with tempfile.TemporaryDirectory(prefix="eindb-paper-") as folder:
        random_checkpoint.write(Path(folder), entries)
        for workers in counts:
            with LocalCluster(options.program, tempfile.mkdtemp(dir=folder), workers) as cluster:
                model = MeasuredModel(cluster.shell, entries, folder)
                for sweep, points in sweeps.items():
                    for point in points:
                        if point[2] == workers:
                            measure_point(model, sweep, point, options.rounds, table, panels[sweep])
    return table, list(panels.values())


def measure_point(model, sweep, point, rounds, table, panel):
    batch, tokens, _ = point
    model.prompt(batch, tokens)
    medians = turns(model, rounds)
    our_seconds, our_bytes = medians["eindecomp"]
    for name, (seconds, received) in medians.items():
        table.add(*point, name, seconds, received, seconds / our_seconds, received / our_bytes if our_bytes else None)
        panel.add(name, varied(sweep, point), received / 1e6)


def run(options):
    measured, measured_panels = run_measured(options)
    planned, planned_panels = run_planned(options)
    return [measured, planned], measured_panels + planned_panels
