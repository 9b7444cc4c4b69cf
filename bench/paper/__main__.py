"""The experiments of section 9 of the paper on EinDecomp. Each is one command, which makes a table and a plot.

Usage: script/bench paper 1|2|3|4 [--full] [--rounds N] [--threads N] [--out FOLDER] [--build FOLDER]

1 matrix chains   2 training a classifier   3 LLaMA's prefill, partitioned by several strategies
4 the prefill of a model that is larger than memory

The default sizes suit two cores and take a few minutes. --full takes those of the paper. See bench/paper/README.md.
"""

import argparse
import importlib
import os
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / folder) for folder in
             ("bench/outcomes", "bench/peers", "bench/cluster", "examples/models/llama", "examples/models/ffnn", "tests/models")]

from openblas import prepare_environment  # noqa: E402

EXPERIMENTS = {"1": "matrix_chains", "2": "classifier_training", "3": "prefill_strategies", "4": "prefill_out_of_core"}


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench paper", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--full", action="store_true", help="the paper's sizes, where this machine has the memory")
    parser.add_argument("--rounds", type=int, default=3, help="turns of every contestant (3)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of everyone (all cores)")
    parser.add_argument("--build", default=str(ROOT / "build"), metavar="FOLDER", help="where eindb was built (build)")
    parser.add_argument("--out", default=None, metavar="FOLDER", help="for table and plot (FOLDER of --build/paper)")
    options = parser.parse_args()
    options.program = os.path.join(options.build, "eindb")
    options.out = options.out or os.path.join(options.build, "paper")
    return options


def main():
    options = arguments()
    prepare_environment(options.threads)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the started processes and removes their folders, too
    try:
        import figure
        import matplotlib  # noqa: F401
        experiment = importlib.import_module(EXPERIMENTS[options.experiment])
    except ImportError as error:
        sys.exit(f"script/bench paper: {error}. script/bootstrap --bench installs what is missing")
    tables, panels = experiment.run(options)
    os.makedirs(options.out, exist_ok=True)
    path = os.path.join(options.out, f"experiment{options.experiment}_{EXPERIMENTS[options.experiment]}")
    text = "\n".join(map(str, tables))
    Path(path + ".txt").write_text(text)
    print(text)
    print("written: " + " ".join([path + ".txt", *figure.draw(panels, path)]))


if __name__ == "__main__":
    main()
