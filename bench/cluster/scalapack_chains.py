"""ScaLAPACK's pdgemm on the matrix chains (A x B) + (C x (D x E)), the opponent of eindb over MPI: its best block size
and grid for each chain and number of processes, with one thread of OpenBLAS per process.

Usage: /usr/bin/python3 bench/cluster/scalapack_chains.py [--sizes S,...] [--ranks P,...] [--rounds N] [--blocks B,...]

Prints a JSON object per chain: seconds is the median over the rounds. Needs `script/bootstrap --bench`.
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

SHAPES = ("uniform", "skewed")


def sizes_of(shape, scale):
    """M, K1, N, K2, K3: A is M x K1, B is K1 x N, C is M x K2, D is K2 x K3, E is K3 x N."""
    tenth = scale // 10
    return (scale,) * 5 if shape == "uniform" else (scale, tenth, scale, tenth, 10 * scale)


def flops(sizes):
    m, k1, n, k2, k3 = sizes
    return 2.0 * (m * k1 * n + k2 * k3 * n + m * k2 * n)


def median_seconds(program, ranks, sizes, block, rows, rounds):
    chain = ScalapackChain(program, ranks, "float64", sizes, block, rows)
    try:
        return statistics.median(chain.seconds() for _ in range(rounds))
    finally:
        chain.close()


def divisors(number):
    return [n for n in range(1, number + 1) if number % n == 0]


def fastest(program, ranks, sizes, blocks, rounds):
    """(seconds, block, rows of the grid): all are tried, of which one round is enough where it takes long."""
    trials = 1 if flops(sizes) > 1e11 else 3
    tried = [
        (median_seconds(program, ranks, sizes, block, rows, trials), block, rows)
        for rows in divisors(ranks)
        for block in blocks
    ]
    _, block, rows = min(tried)
    return median_seconds(program, ranks, sizes, block, rows, rounds), block, rows


def numbers(text):
    return [int(number) for number in text.split(",")]


def arguments():
    parser = argparse.ArgumentParser(description="Measures ScaLAPACK on matrix chains in fp64.")
    parser.add_argument("--sizes", type=numbers, default=[1000, 2000, 4000], help="s of the chains (1000,2000,4000)")
    parser.add_argument("--ranks", type=numbers, default=[4], help="numbers of processes (4)")
    parser.add_argument("--blocks", type=numbers, default=[64, 128, 192, 256], help="of the distribution, to choose from")
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
            sizes = sizes_of(shape, scale)
            for ranks in options.ranks:
                seconds, block, rows = fastest(program, ranks, sizes, options.blocks, options.rounds)
                outcome = {"shape": shape, "s": scale, "ranks": ranks, "seconds": seconds, "block": block}
                outcome |= {"grid": [rows, ranks // rows], "gflops": flops(sizes) / seconds / 1e9}
                print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
