"""PyTorch with weights that stay on the disk: torch_layer_by_layer.py CHECKPOINT TOKENS LOGITS read|map THREADS

A weight is read into memory, or mapped, only while it is used; of the embedding only the rows of the tokens are. Prints
the seconds from the first weight to the logits in their file, without the start of Python and PyTorch."""

import sys
import time
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / folder) for folder in ("bench/peers", "examples/models/llama", "tests/models")]

import llama  # noqa: E402
import random_checkpoint  # noqa: E402
from llama_torch import Llama  # noqa: E402


def main():
    folder, tokens, logits, way, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    prompt = torch.from_numpy(np.load(tokens))
    start = time.perf_counter()
    checkpoint = random_checkpoint.Checkpoint(Path(folder))

    def weight(name):
        mapped = way == "map" or name == llama.EMBEDDING
        return torch.from_numpy(checkpoint.mapped(name) if mapped else checkpoint[name])

    with torch.inference_mode():
        np.save(logits, Llama(checkpoint.entries, weight).first_logits(prompt).numpy())
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
