"""Data parallelism in PyTorch: torch_data_parallel.py RANK RANKS MEETING THREADS BATCH FEATURES HIDDEN LABELS

Each rank has all weights and its share of the batch. Gradients are averaged over gloo. Rank 0 prints "ready", then a
line with seconds per step for each line that it reads. DistributedDataParallel broadcasts the weights at the start."""

import sys
import time

import numpy as np
import torch
import torch.distributed
import torch.nn.functional as F

RATE = 0.1


class Classifier(torch.nn.Module):
    def __init__(self, features, hidden, labels):
        super().__init__()
        random = np.random.default_rng(1)

        def weight(*shape):
            values = random.standard_normal(shape, dtype=np.float32) * np.float32(np.sqrt(2 / shape[1]))
            return torch.nn.Parameter(torch.from_numpy(values))

        self.first, self.second = weight(hidden, features), weight(labels, hidden)

    def forward(self, x):
        return F.linear(F.relu(F.linear(x, self.first)), self.second)


class Step:
    """A step of gradient descent on this rank's share of the batch."""

    def __init__(self, rank, ranks, batch, features, hidden, labels):
        x, t = inputs(batch, features, labels)
        share = slice(rank * batch // ranks, (rank + 1) * batch // ranks)
        self._x, self._t = torch.from_numpy(x[share]), torch.from_numpy(t[share])
        classifier = Classifier(features, hidden, labels)
        self._scores = torch.nn.parallel.DistributedDataParallel(classifier) if ranks > 1 else classifier
        self._descent = torch.optim.SGD(classifier.parameters(), lr=RATE)

    def run(self):
        self._descent.zero_grad(set_to_none=True)
        F.cross_entropy(self._scores(self._x), self._t).backward()
        self._descent.step()


def inputs(batch, features, labels):
    """Inputs that are mostly zero, as in the paper's data set, and one label for each."""
    random = np.random.default_rng(7)
    x = random.standard_normal((batch, features), dtype=np.float32)
    x *= random.random((batch, features)) < 0.01
    return x, np.eye(labels, dtype=np.float32)[random.integers(labels, size=batch)]


def main():
    rank, ranks = map(int, sys.argv[1:3])
    meeting, threads = sys.argv[3], int(sys.argv[4])
    torch.set_num_threads(threads)
    if ranks > 1:
        torch.distributed.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=ranks)
    step = Step(rank, ranks, *map(int, sys.argv[5:]))
    step.run()
    if rank == 0:
        print("ready", flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            step.run()
        if rank == 0:
            print((time.perf_counter() - start) / int(line), flush=True)


if __name__ == "__main__":
    main()
