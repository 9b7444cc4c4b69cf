"""Measures eindb's cluster, whose workers run on this machine, over TCP and MPI, against predictions and peers.

Usage: script/bench cluster [GROUP...] [--quick] [--rounds N] [--cases REGEX] [--json FILE] [--build FOLDER]

Prints a JSON object per case, one a line, and then a table. The exit status is 1 if a figure that does not depend on
time misses its target.
"""

import argparse
import json
import os
import re
import signal
import sys

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(os.path.dirname(BENCH), "build")
sys.path += [os.path.join(BENCH, "outcomes"), os.path.join(BENCH, "peers")]

import metadata  # noqa: E402
import on_paper  # noqa: E402
import overlap  # noqa: E402
import redistribution  # noqa: E402
import report  # noqa: E402
import scalapack_contest  # noqa: E402
import small_statements  # noqa: E402
import traffic  # noqa: E402

GROUPS = {
    "bytes": traffic.run,
    "scalapack": scalapack_contest.run,
    "overlap": overlap.run,
    "redistribution": redistribution.run,
    "latency": small_statements.run,
    "metadata": metadata.run,
    "predicted": on_paper.run_predicted,
    "scale": on_paper.run_scale,
}
# The prefix of figures that are the same on every machine, by group.
DETERMINISTIC = {"bytes": "", "redistribution": "bytes", "metadata": "bytes", "scale": "bytes"}


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench cluster", description="Measures eindb's cluster.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="all of them, or: " + " ".join(GROUPS))
    parser.add_argument("--quick", action="store_true", help="smaller inputs, three rounds")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contestant (5)")
    parser.add_argument("--cases", default="", metavar="REGEX", help="only the cases whose name has this")
    parser.add_argument("--json", metavar="FILE", help="adds the outcomes to those that stand in FILE")
    parser.add_argument("--build", default=BUILD, metavar="FOLDER", help="where eindb was built (build)")
    options = parser.parse_args()
    if options.quick:
        options.rounds = min(options.rounds, 3)
    options.program = os.path.join(options.build, "eindb")
    options.selects = lambda name: re.search(options.cases, name) is not None
    return options


def run_groups(options, groups):
    """Returns all outcomes, after each has been printed and written as soon as it was known."""
    written, machine = report.read(options.json)
    outcomes = []
    for group in groups:
        for outcome in GROUPS[group](options):
            outcomes.append(outcome)
            print(json.dumps(outcome.to_json()), flush=True)
            written[(outcome.group, outcome.name)] = outcome
            if options.json:
                report.write(options.json, written.values(), machine)
    return outcomes


def print_table(groups, outcomes):
    for group in groups:
        print(f"\n== {group}")
        for outcome in outcomes:
            if outcome.group == group:
                print(report.line_of(outcome))


def misses(outcomes):
    return [
        f"{outcome.name}: {figure.name} {figure.value:.4g}"
        for outcome in outcomes
        if outcome.group in DETERMINISTIC
        for figure in outcome.figures
        if figure.name.startswith(DETERMINISTIC[outcome.group]) and not figure.met()
    ]


def main():
    options = arguments()
    groups = options.groups or list(GROUPS)
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        sys.exit(f"script/bench cluster: there is no group {unknown[0]}; there are {' '.join(GROUPS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # removes the workers and their folders, too
    outcomes = run_groups(options, groups)
    print_table(groups, outcomes)
    missed = misses(outcomes)
    for miss in missed:
        print("missed: " + miss)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
