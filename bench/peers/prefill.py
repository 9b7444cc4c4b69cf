"""Compares the prefill of examples/models/llama with PyTorch: a small model's logits, and the time of a larger one."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import torch

from case import Outcome
from contestants import Call, Statement

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "examples/models" / "llama"), str(ROOT / "tests" / "models")]

import llama  # noqa: E402
import random_checkpoint  # noqa: E402
from llama_torch import Llama  # noqa: E402

FIRST = "EINSUM Z[b,v] = L[b,{last},v]"
EVERY = "EINSUM Z[b,s,v] = L[b,s,v]"


class Prefill:
    """A model with random weights, in eindb and in PyTorch's memory, and a prompt."""

    def __init__(self, context, tokens, **shape):
        self.entries = random_checkpoint.config_entries(**shape)
        self.config = llama.Config.of(self.entries)
        folder = Path(context.eindb.folder) / "checkpoint"
        folder.mkdir(exist_ok=True)
        random_checkpoint.write(folder, self.entries)
        prompt = np.random.default_rng(3).integers(self.config.vocabulary, size=(1, tokens))
        for name in llama.weights(self.config):
            context.eindb.drop(f'"{name}"')
        for statement in llama.load_script(self.config, folder):
            context.eindb.execute(statement)
        self.prompt = list(llama.prompt_script(self.config, prompt.tolist()))
        self.embed(context.eindb.execute)
        checkpoint = random_checkpoint.Checkpoint(folder)
        weights = {name: torch.from_numpy(np.array(checkpoint[name])) for name in llama.weights(self.config)}
        self.model = Llama(self.entries, weights.__getitem__)
        self.tokens = torch.from_numpy(prompt)
        os.remove(folder / "model.safetensors")

    def embed(self, execute):
        for statement in self.prompt:
            execute(statement)

    def query(self, head):
        return llama.query(self.config, head.format(last=self.tokens.shape[1] - 1))

    def torch_call(self, function):
        def call():
            with torch.inference_mode():
                return function(self.tokens)

        return Call(call)


class WholePrefill:
    """The time of a prefill with the embedding of the prompt, which is SQL that EXPLAIN ANALYZE does not include."""

    def __init__(self, eindb, prefill, query):
        self._eindb, self._prefill, self._query = eindb, prefill, query

    def seconds(self):
        start = time.perf_counter()
        self._prefill.embed(self._eindb.execute_here)
        return time.perf_counter() - start + self._eindb.seconds(self._query)

    def of_earlier_build(self):
        return WholePrefill(self._eindb.earlier, self._prefill, self._query) if self._eindb.earlier else None


def add_error(context, outcome, query, expected):
    error = float(np.abs(context.eindb.array(query) - expected.numpy()).max())
    outcome.add("largest difference", error, at_most=1e-4)


def run_small(context):
    outcome = Outcome("prefill", "logits of 2 layers, 512 features, 8 heads, 4 groups, 128 tokens")
    prefill = Prefill(context, 128, layers=2, features=512, heads=8, groups=4, feed_forward=1408, vocabulary=1000)
    add_error(context, outcome, prefill.query(EVERY), prefill.torch_call(prefill.model.logits).function())
    return outcome


def run_large(context):
    """The prefill of 512 tokens by 4 layers of 1024 features, with logits of the next token, and of every position."""
    shape = {"layers": 4, "features": 1024, "heads": 16, "groups": 16, "feed_forward": 2816, "vocabulary": 32000}
    prefill = Prefill(context, 512, **shape)
    for name, head, function in (("first token", FIRST, prefill.model.first_logits),
                                 ("every position", EVERY, prefill.model.logits)):
        outcome = Outcome("prefill", f"512 tokens, 4 layers, 1024 features, {name}")
        torch_call = prefill.torch_call(function)
        query = prefill.query(head)
        add_error(context, outcome, query, torch_call.function())
        whole = WholePrefill(context.eindb, prefill, query)
        context.compare(outcome, {"eindb": whole, "torch": torch_call})
        for figure in outcome.figures:
            if figure.name == "over torch":
                figure.at_least = 1.0
        outcome.notes["seconds without embedding"] = Statement(context.eindb, query).seconds()
        yield outcome


def run(context):
    if context.selects("logits"):
        yield run_small(context)
    if context.selects("512 tokens"):
        yield from run_large(context)
