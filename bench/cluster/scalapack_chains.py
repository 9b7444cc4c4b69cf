"""Measures ScaLAPACK's pdgemm, eindb's opponent over MPI, on the matrix chains (A x B) + (C x (D x E)). Finds its best
block size, step and grid for each chain and number of processes, with one thread of OpenBLAS per process.

Usage: /usr/bin/python3 bench/cluster/scalapack_chains.py [--sizes S,...] [--ranks P,...] [--shapes NAME,...]

Prints a JSON object per chain, in which `seconds` is the median over the rounds. Needs `script/bootstrap --bench`.
"""

import argparse
import json
import os
import statistics
import sys

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path += [os.path.join(BENCH, "outcomes"), os.path.join(BENCH, "peers")]

from openblas import prepare_environment  # noqa: E402
from scalapack import ScalapackChain, build  # noqa: E402
from statements import chain_flops, chain_sizes  # noqa: E402

SHAPES = ("uniform", "skewed")


class Trials:
    """Runs of one chain on a fixed number of processes."""

    def __init__(self, program, ranks, sizes, rounds):
        self.program, self.ranks, self.sizes, self.rounds = program, ranks, sizes, rounds

    def median_seconds(self, way, rounds):
        """The median over the rounds. `way` holds the block size, the rows of the grid and the step."""
        chain = ScalapackChain(self.program, self.ranks, "float64", self.sizes, *way)
        try:
            return statistics.median(chain.seconds() for _ in range(rounds))
        finally:
            chain.close()

    def fastest(self, ways):
        """The fastest of the ways. Each is run three times, or once if the chain is large."""
        rounds = 1 if chain_flops(self.sizes) > 1e11 else 3
        return min(ways, key=lambda way: self.median_seconds(way, rounds))

    def best_way(self, blocks, steps):
        """Searches the best block size and step on the squarest grid, then the best grid with those."""
        grids = [rows for rows in range(1, self.ranks + 1) if self.ranks % rows == 0]
        squarest = max(rows for rows in grids if rows * rows <= self.ranks)
        block, _, step = self.fastest([(block, squarest, step) for block in blocks for step in steps])
        return self.fastest([(block, rows, step) for rows in grids])

    def run(self, blocks, steps):
        """(seconds, way) of the best way."""
        way = self.best_way(blocks, steps)
        return self.median_seconds(way, self.rounds), way


def numbers(text):
    return [int(number) for number in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(description="Measures ScaLAPACK on matrix chains in fp64.")
    parser.add_argument("--sizes", type=numbers, default=[1000, 2000, 4000], help="s of the chains (1000,2000,4000)")
    parser.add_argument("--ranks", type=numbers, default=[4], help="numbers of processes (4)")
    parser.add_argument("--blocks", type=numbers, default=[128, 256, 512], help="of the distribution, to choose from")
    parser.add_argument("--steps", type=numbers, default=[128, 256], help="of products, to choose from")
    parser.add_argument("--shapes", type=lambda text: text.split(","), default=list(SHAPES), help="uniform,skewed")
    parser.add_argument("--rounds", type=int, default=5, help="whose median is taken (5)")
    parser.add_argument("--build", default=os.path.join(os.path.dirname(BENCH), "build"), metavar="FOLDER")
    return parser.parse_args()


def main():
    options = arguments()
    prepare_environment(1)
    program = build(options.build)
    if not program:
        sys.exit("ScaLAPACK is absent: script/bootstrap --bench installs it")
    for shape in options.shapes:
        for scale in options.sizes:
            sizes = chain_sizes(shape, scale)
            for ranks in options.ranks:
                seconds, way = Trials(program, ranks, sizes, options.rounds).run(options.blocks, options.steps)
                block, rows, step = way
                outcome = {"shape": shape, "s": scale, "ranks": ranks, "seconds": seconds}
                outcome |= {"gflops": chain_flops(sizes) / seconds / 1e9}
                outcome |= {"block": block, "step": step, "grid": [rows, ranks // rows]}
                print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
