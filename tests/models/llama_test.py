#!/usr/bin/python3
"""llama_test.py EINDB PREFILL: compares examples/models/llama with NumPy in double precision, on checkpoints with
random weights."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import llama_numpy
import random_checkpoint

PREFILL = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 2 else None
EINDB = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else None
sys.path.append(os.path.dirname(PREFILL or ""))

import llama  # noqa: E402

TINY = {"layers": 2, "features": 32, "heads": 4, "groups": 2, "feed_forward": 48, "vocabulary": 60}


class LlamaTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.rng = np.random.default_rng(8)

    def prefill(self, *options, status=0):
        done = subprocess.run([PREFILL, *map(str, options)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def load(self, entries, **others):
        random_checkpoint.write(self.folder, entries, **others)
        self.prefill("load", self.folder, "model.db", "--eindb", EINDB)
        return random_checkpoint.Checkpoint(self.folder)

    def run_model(self, tokens, *options):
        """The logits of the model as an array. The program writes them to a file."""
        (self.folder / "tokens").write_text("\n".join(" ".join(map(str, sequence)) for sequence in tokens))
        self.prefill("run", self.folder, "model.db", "--tokens-file", "tokens", "--logits", "out.npy", "--eindb", EINDB,
                     *options)
        return np.load(self.folder / "out.npy")

    def tokens(self, batch, length, vocabulary):
        return self.rng.integers(vocabulary, size=(batch, length)).tolist()

    def planned_elements_per_layer(self, layers, workers):
        """The elements per layer that workers would receive from each other under EinDecomp, which must be the fewest.
        Tensors are empty, since plans do not depend on values."""
        config = llama.Config.of(random_checkpoint.config_entries(
            layers=layers, features=4096, heads=32, groups=32, feed_forward=11008, vocabulary=32000))
        shapes = {**llama.weights(config), "X_0": (16, 1024, 4096), "rotation": (1024, 64, 2, 2)}
        script = [f'CREATE TENSOR "{name}" ({", ".join(f"d{n} {e}" for n, e in enumerate(shape))}) FLOAT32'
                  for name, shape in shapes.items()]
        script += [f"SET workers = {workers}", f"EXPLAIN (COMPARE, FORMAT json) {llama.query(config)}", ""]
        done = subprocess.run([EINDB, ":memory:"], input=";\n".join(script), capture_output=True, text=True, check=True)
        received = {row["strategy"]: row.get("elements_received") for row in json.loads(done.stdout)["strategies"]}
        self.assertEqual(min(received.values()), received["eindecomp"])
        return received["eindecomp"] / layers

    def test_many_layers_are_planned_as_well_as_few(self):
        for workers in (8, 16):
            few, many = (self.planned_elements_per_layer(layers, workers) for layers in (6, 32))
            self.assertLess(many, 1.1 * few, workers)

    def test_two_layers_of_512_features_and_128_tokens(self):
        entries = random_checkpoint.config_entries(
            layers=2, features=512, heads=8, groups=4, feed_forward=1408, vocabulary=500)
        checkpoint = self.load(entries)
        tokens = self.tokens(1, 128, 500)
        expected = llama_numpy.logits(checkpoint, tokens)
        # Logits are about 1. The error of float32 is about 1e-7 times the square root of the number of terms.
        np.testing.assert_allclose(self.run_model(tokens, "--every-position"), expected, rtol=0, atol=1e-5)
        np.testing.assert_allclose(self.run_model(tokens), expected[:, -1], rtol=0, atol=1e-5)

    def test_a_batch_layer_by_layer_in_bfloat16_from_several_files(self):
        checkpoint = self.load(random_checkpoint.config_entries(**TINY), dtype="BF16", files=3)
        tokens = self.tokens(3, 7, 60)
        expected = llama_numpy.logits(checkpoint, tokens)
        whole = self.run_model(tokens, "--every-position")
        np.testing.assert_allclose(whole, expected, rtol=0, atol=1e-5)
        layers = self.run_model(tokens, "--every-position", "--layer-by-layer")
        np.testing.assert_allclose(layers, expected, rtol=0, atol=1e-5)

    def test_the_options_of_an_architecture(self):
        """Head sizes other than features / heads, a single group, the embedding as output, and another base work."""
        entries = random_checkpoint.config_entries(
            **{**TINY, "groups": 1}, head_dim=12, tie_word_embeddings=True, rope_theta=500.0, rms_norm_eps=0.01)
        checkpoint = self.load(entries)
        tokens = self.tokens(1, 9, 60)
        expected = llama_numpy.logits(checkpoint, tokens)[:, -1]
        np.testing.assert_allclose(self.run_model(tokens), expected, rtol=0, atol=1e-5)

    def test_the_likeliest_token_is_printed_for_each_sequence(self):
        checkpoint = self.load(random_checkpoint.config_entries(**TINY))
        tokens = self.tokens(2, 5, 60)
        expected = llama_numpy.logits(checkpoint, tokens)[:, -1].argmax(axis=-1)
        sequences = [option for sequence in tokens for option in ("--tokens", " ".join(map(str, sequence)))]
        printed = self.prefill("run", self.folder, "model.db", *sequences, "--eindb", EINDB)
        self.assertEqual(printed.splitlines()[1:], [f"{b},{token}" for b, token in enumerate(expected)])

    def test_eindecomp_costs_no_more_than_other_ways_of_cutting_the_model(self):
        """EinDecomp moves no more elements than other strategies for four layers of the model of 7 billion parameters
        and a long prompt. The exact solution takes too long for these."""
        entries = random_checkpoint.config_entries(
            layers=4, features=4096, heads=32, groups=32, feed_forward=11008, vocabulary=32000)
        config = llama.Config.of(entries)
        shapes = {**llama.weights(config), "X_0": (1, 4096, 4096), "rotation": (4096, 64, 2, 2)}
        statements = ["SET cost_model = 'transfers'", "SET parallelism = 8"]
        for name, shape in shapes.items():
            dimensions = ", ".join(f"d{n} {extent}" for n, extent in enumerate(shape))
            statements.append(f'CREATE TENSOR "{name}" ({dimensions}) FLOAT32')
        statements.append("EXPLAIN (COMPARE, FORMAT json) " + llama.query(config, "EINSUM Z[b,v] = L[b,4095,v]"))
        command = [EINDB, "--mode", "list", "--noheader", "-f", "-"]
        done = subprocess.run(command, input=";\n".join(statements) + ";", capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        costs = {row["strategy"]: row["total_cost"] for row in json.loads(done.stdout)["strategies"]}
        for strategy in ("data", "sequence", "attention", "megatron"):
            self.assertLessEqual(costs["eindecomp"], costs[strategy], strategy)

    def test_what_the_script_has_no_statements_for_is_an_error(self):
        others = {"rope_scaling": {"type": "linear", "factor": 2.0}}
        random_checkpoint.write(self.folder, random_checkpoint.config_entries(**TINY, **others))
        self.assertIn("rope_scaling", self.prefill("load", self.folder, "model.db", "--eindb", EINDB, status=1))

    def test_tokens_beyond_the_vocabulary_are_an_error(self):
        random_checkpoint.write(self.folder, random_checkpoint.config_entries(**TINY))
        message = self.prefill("run", self.folder, "model.db", "--tokens", "3 60", "--eindb", EINDB, status=1)
        self.assertIn("tokens are from 0 to 59", message)

    def generate(self, tokens, count, *options):
        (self.folder / "tokens").write_text("\n".join(" ".join(map(str, sequence)) for sequence in tokens))
        done = subprocess.run([os.path.join(os.path.dirname(PREFILL), "generate.py"), self.folder, "model.db",
                               "--tokens-file", "tokens", "--count", str(count), "--out", "out.npy", "--eindb", EINDB,
                               *map(str, options)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(self.folder / "out.npy").tolist()

    def continued(self, checkpoint, tokens, count, choose):
        """What the model says in NumPy, which computes all positions again for each token."""
        sequences = [list(sequence) for sequence in tokens]
        for _ in range(count):
            logits = llama_numpy.logits(checkpoint, sequences)[:, -1]
            for b, sequence in enumerate(sequences):
                sequence.append(choose(b, len(sequence) - 1, logits[b]))
        return sequences

    def test_the_likeliest_tokens(self):
        checkpoint = self.load(random_checkpoint.config_entries(**TINY))
        tokens = self.tokens(3, 5, TINY["vocabulary"])
        expected = self.continued(checkpoint, tokens, 12, lambda b, position, logits: int(np.argmax(logits)))
        self.assertEqual(self.generate(tokens, 12), expected)
        self.assertEqual(self.generate(tokens, 1), [sequence[:6] for sequence in expected])

    def test_tokens_drawn_from_the_likeliest(self):
        checkpoint = self.load(random_checkpoint.config_entries(**TINY))
        tokens = self.tokens(2, 4, TINY["vocabulary"])
        found = self.generate(tokens, 12, "--top", 5, "--temperature", 0.7, "--seed", 3)
        subprocess.run([EINDB, "model.db", "-c", "COPY noise TO 'noise.npy'"], cwd=self.folder, check=True)
        noise = np.load(self.folder / "noise.npy")

        def choose(b, position, logits):
            best = np.argsort(-logits)[:5]
            shares = np.exp((logits[best] - logits[best[0]]) / 0.7)
            return int(best[min(np.sum(np.cumsum(shares / shares.sum()) <= noise[b, position]), 4)])

        self.assertEqual(found, self.continued(checkpoint, tokens, 12, choose))
        self.assertNotEqual(found, self.generate(tokens, 12))


if __name__ == "__main__":
    unittest.main()
