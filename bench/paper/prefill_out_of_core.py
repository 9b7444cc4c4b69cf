"""Experiment 4: the prefill of a model whose weights are four times larger than the memory limit.

The paper runs LLaMA with 7 and 65 billion parameters, in batches of 16, on GPUs whose memory they exceed, beside ZeRO
and FlexGen. Here a model of the same architecture exceeds `memory_limit`. PyTorch has one weight in memory at a time,
which limits it to about the same memory. Both run in their own processes, whose peaks of resident memory the kernel
reports. Before a turn `from disk` the kernel drops the files from its page cache. eindb's seconds are those of the
whole process, from its start to the logits in a file. PyTorch's do not include the start of Python and PyTorch.

Both models of the paper are planned for its eight GPUs: the elements that GPUs receive from each other are compared
with those under Megatron's cuts and under cuts of the batch alone, which is how ZeRO divides the work."""

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import llama
import random_checkpoint
from eindb_process import Eindb
from figure import Panel
from memory import run_process
from prefill_strategies import PAPER, PAPER_LAYERS, PLANNED_LAYERS, planned_elements
from table import Table

MEBIBYTE = 1 << 20
LIMIT_SHARE = 4  # the ratio of the weights to the memory limit
SMALL = {"layers": 24, "features": 1024, "heads": 16, "groups": 16, "feed_forward": 2816, "vocabulary": 16000}
FULL = {"layers": PAPER_LAYERS, **PAPER}
SMALL_LENGTHS, SMALL_BATCH = (128, 256, 512), 1
FULL_LENGTHS, FULL_BATCH = (512, 1024, 2048, 4096), 16
PLANNED_MODELS = {
    "LLaMA-7B": FULL,
    "LLaMA-65B": {"layers": 80, "features": 8192, "heads": 64, "groups": 64, "feed_forward": 22016,
                  "vocabulary": 32000},
}
PLANNED_STRATEGIES = ("eindecomp", "data", "megatron")
PLANNED_WORKERS = 8
TOLERANCE = 1e-4  # absolute, for logits of about 1
PEER = Path(__file__).with_name("torch_layer_by_layer.py")


class Model:
    """A checkpoint on the disk, and a database that contains its weights."""

    def __init__(self, options, folder):
        self.options, self.folder = options, Path(folder)
        entries = random_checkpoint.config_entries(**(FULL if options.full else SMALL))
        self.config = llama.Config.of(entries)
        self.checkpoint = self.folder / "checkpoint"
        self.checkpoint.mkdir()
        random_checkpoint.write(self.checkpoint, entries)
        self.bytes = sum(4 * int(np.prod(shape)) for shape in llama.weights(self.config).values())
        self.limit = self.bytes // LIMIT_SHARE // MEBIBYTE * MEBIBYTE
        eindb = Eindb(options.program, folder)
        for statement in llama.load_script(self.config, self.checkpoint):
            eindb.execute(statement)
        eindb.close()
        self.database = eindb.database

    def forget(self):
        """Drops the files from the kernel's page cache, so that the next read goes to the disk. Only pages that have
        been written to the disk can be dropped, hence the sync."""
        os.sync()
        for path in (self.database, self.checkpoint / "model.safetensors"):
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


class Prompt:
    """A prompt, and a turn of each program with it: seconds, peak of resident bytes, and logits."""

    def __init__(self, model, batch, length):
        self.model = model
        tokens = np.random.default_rng(length).integers(model.config.vocabulary, size=(batch, length))
        self._tokens, self._logits, self._script = (str(model.folder / name) for name in
                                                    ("tokens.npy", "logits.npy", "prefill.sql"))
        np.save(self._tokens, tokens)
        query = llama.query(model.config, f"EINSUM Z[b,v] = L[b,{length - 1},v]")
        statements = [*llama.prompt_script(model.config, tokens.tolist()), f"COPY ({query}) TO '{self._logits}'"]
        Path(self._script).write_text("".join(statement + ";\n" for statement in statements))

    def _run(self, program, arguments, output):
        status, resident = run_process(program, list(map(str, arguments)), output)
        if status != 0:
            raise RuntimeError(f"{program}: status {status}")
        return resident

    def eindb(self):
        options = self.model.options
        arguments = [self.model.database, "--memory-limit", self.model.limit, "--threads", options.threads]
        start = time.perf_counter()
        resident = self._run(options.program, [*arguments, "-f", self._script], os.devnull)
        return time.perf_counter() - start, resident, np.load(self._logits)

    def torch(self, way):
        with tempfile.NamedTemporaryFile(mode="r") as output:
            arguments = [PEER, self.model.checkpoint, self._tokens, self._logits, way]
            resident = self._run(sys.executable, [*arguments, self.model.options.threads], output.name)
            return float(output.read()), resident, np.load(self._logits)


CONTESTANTS = {
    "eindb": Prompt.eindb,
    "PyTorch, weights read": lambda prompt: prompt.torch("read"),
    "PyTorch, weights mapped": lambda prompt: prompt.torch("map"),
}


def measure(model, prompt, cold, rounds):
    """({contestant: (median seconds, peak of resident bytes)}, the largest difference of eindb's logits to others)."""
    turns = {name: [] for name in CONTESTANTS}
    for _ in range(rounds):
        for name, run in CONTESTANTS.items():
            if cold:
                model.forget()
            turns[name].append(run(prompt))
    ours, *others = (runs[0][2] for runs in turns.values())
    error = max(float(np.abs(ours - theirs).max()) for theirs in others)
    medians = {name: (statistics.median(t for t, _, _ in runs), max(r for _, r, _ in runs))
               for name, runs in turns.items()}
    return medians, error


def run(options):
    lengths, batch = (FULL_LENGTHS, FULL_BATCH) if options.full else (SMALL_LENGTHS, SMALL_BATCH)
    with tempfile.TemporaryDirectory(prefix="eindb-paper-", dir=None) as folder:
        needed = 3 * 4 * sum(int(np.prod(s)) for s in random_checkpoint.shapes(
            random_checkpoint.config_entries(**(FULL if options.full else SMALL))).values())
        if shutil.disk_usage(folder).free < needed:
            sys.exit(f"script/bench paper: {folder} has no room for {needed:,} bytes; TMPDIR names another place")
        measured_table, measured_panels = measured(options, Model(options, folder), lengths, batch)
    planned_table, planned_panels = planned(options)
    return [measured_table, planned_table], measured_panels + planned_panels


def measured(options, model, lengths, batch):
    table = Table(
        f"Measured: prefill with weights of {model.bytes / MEBIBYTE:,.0f} MiB under a limit of "
        f"{model.limit / MEBIBYTE:,.0f} MiB, batch {batch}, {options.threads} threads",
        ["tokens", "weights", "contestant", "seconds", "over eindb", "resident / limit", "logits differ by"],
    )
    panels = []
    for cold in (True, False):
        place = "from disk" if cold else "from the kernel's cache"
        panel = Panel(f"measured, weights {place}", "tokens", "seconds")
        panels.append(panel)
        for length in lengths:
            medians, error = measure(model, Prompt(model, batch, length), cold, options.rounds)
            if not error <= TOLERANCE:
                sys.exit(f"script/bench paper: logits differ by {error:.3g}: no time of them means anything")
            for name, (seconds, resident) in medians.items():
                table.add(length, place, name, seconds, seconds / medians["eindb"][0], resident / model.limit,
                          error if name == "eindb" else None)
                panel.add(name, length, seconds)
    return table, panels


def planned(options):
    ours, *others = PLANNED_STRATEGIES
    table = Table(
        f"Planned, for {PLANNED_WORKERS} workers that are not here, batch {FULL_BATCH}: elements that they receive from "
        "each other",
        ["model", "layers", "tokens", *PLANNED_STRATEGIES, *(f"{name} / {ours}" for name in others)],
    )
    panels = []
    for name, sizes in PLANNED_MODELS.items():
        sizes = {**sizes, "layers": sizes["layers"] if options.full else PLANNED_LAYERS}
        config = llama.Config.of(random_checkpoint.config_entries(**sizes))
        panel = Panel(f"planned, {name}", "tokens", "elements received", logarithmic=True)
        panels.append(panel)
        with tempfile.TemporaryDirectory(prefix="eindb-paper-") as folder:
            eindb = Eindb(options.program, folder)
            for length in FULL_LENGTHS:
                received = planned_elements(eindb, config, (FULL_BATCH, length, PLANNED_WORKERS))
                table.add(name, sizes["layers"], length, *(received[strategy] for strategy in PLANNED_STRATEGIES),
                          *(received[strategy] / received[ours] for strategy in others))
                for strategy in PLANNED_STRATEGIES:
                    panel.add(strategy, length, received[strategy])
            eindb.close()
    return table, panels
