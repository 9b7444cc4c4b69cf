"""Measures eindb beside NumPy, SciPy, PyTorch, GraphBLAS, ScaLAPACK and SQLite, which take turns. See bench/README.md.

Usage: script/bench peers [GROUP...] [--quick] [--rounds N] [--cases REGEX] [--threads N] [--limit SECONDS] [--json FILE] [--report FILE]
       [--build FOLDER] [--against FOLDER] [--calibrate] [--choices]

With --against an earlier build of eindb takes a turn in each round, too. The figure "over earlier" is its time divided
by that of this build. The figure "of prediction" is the time of a statement divided by that which its plan predicts: by
figures that are built in, or with --calibrate by those of this machine. With --choices each statement also runs at every
parallelism that its plan was chosen from; "over best p" is its time divided by the shortest of them.
"""

import argparse
import os
import statistics
import sys
import tempfile

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(os.path.dirname(BENCH), "build")
sys.path.append(os.path.join(BENCH, "outcomes"))

from openblas import prepare_environment  # noqa: E402
from processor import processor_name  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench peers", description="Measures eindb beside its peers.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="all of them, or: " + " ".join(GROUPS))
    parser.add_argument("--quick", action="store_true", help="three rounds, and smaller cases where they take minutes")
    parser.add_argument("--rounds", type=int, default=7, help="turns of every contestant (7)")
    parser.add_argument("--cases", default="", metavar="REGEX", help="only the cases whose name has this")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of everyone (all cores)")
    parser.add_argument("--limit", type=float, help="seconds that a case of scattered cells may take (20; quick: 5)")
    parser.add_argument("--json", metavar="FILE", help="adds the outcomes to those that stand in FILE")
    parser.add_argument("--report", metavar="FILE", help="measures nothing, prints what stands in FILE")
    parser.add_argument("--build", default=BUILD, metavar="FOLDER", help="where eindb was built (build)")
    parser.add_argument("--against", metavar="FOLDER", help="an earlier build of eindb that takes turns with it")
    parser.add_argument("--calibrate", action="store_true", help="measures this machine for predictions first")
    parser.add_argument("--choices", action="store_true", help="tries every parallelism of each statement, too")
    return parser.parse_args()


GROUPS = (
    "chains patterns tccg reductions attention softmax gradients prefill memory sparse choices semirings indexing latency python scaling relational".split()
)


def runners():
    import attention, cell_choices, chains, gradients, indexing, latency, memory, patterns, prefill, reductions  # noqa: E401
    import python_calls, relational, semirings, sparse, tccg  # noqa: E401

    return {
        "chains": chains.run,
        "patterns": patterns.run,
        "tccg": tccg.run,
        "reductions": reductions.run,
        "attention": attention.run_attention,
        "softmax": attention.run_softmax,
        "gradients": gradients.run,
        "prefill": prefill.run,
        "memory": memory.run,
        "sparse": sparse.run,
        "choices": cell_choices.run,
        "semirings": semirings.run,
        "indexing": indexing.run,
        "latency": latency.run,
        "python": python_calls.run,
        "scaling": chains.run_scaling,
        "relational": relational.run,
    }


def print_group(group, outcomes):
    """Prints each outcome as it comes, and returns all of them."""
    import patterns
    import report
    import tccg

    wanted = {"patterns": patterns.WANTED, "tccg": tccg.WANTED}
    print(f"\n== {group}")
    printed = []
    for outcome in outcomes:
        print(report.line_of(outcome), flush=True)
        printed.append(outcome)
    if group in wanted and printed:
        print(report.line_of(patterns.totals(printed, wanted[group])))
    for name in ("over earlier", "of prediction", "over best p"):
        print_spread(group, name, [outcome.value(name) for outcome in printed if outcome.value(name) is not None])
    return printed


def print_spread(group, name, ratios):
    """The geometric mean of ratios and of their distances from 1 to either side, and the ends."""
    if not ratios:
        return
    mean, distance = statistics.geometric_mean(ratios), statistics.geometric_mean([max(r, 1 / r) for r in ratios])
    ends = f"from {min(ratios):.3f} to {max(ratios):.3f}"
    print(f"{group}: {mean:.3f} {name}, the geometric mean of {len(ratios)} cases, {ends}; {distance:.3f} off")


def print_summary(outcomes):
    import report

    print("\n" + report.summary({group: measured for group, measured in outcomes.items() if measured}))


def kept(options, outcomes, machine):
    """Yields the outcomes, and writes each to the file as it comes."""
    import report

    before, figures = report.read(options.json)
    for outcome in outcomes:
        before[(outcome.group, outcome.name)] = outcome
        if options.json:
            report.write(options.json, before.values(), {**figures, **machine.figures()})
        yield outcome


def run_groups(options, groups):
    import torch
    from context import Context
    from eindb_process import Eindb
    from machine import Machine

    torch.set_num_threads(options.threads)
    machine = Machine(os.path.join(options.build, "bench", "machine"), options.threads)
    arguments = ["--threads", str(options.threads)]
    with tempfile.TemporaryDirectory(prefix="eindb-peers-") as folder:
        earlier = None
        if options.against:
            os.mkdir(os.path.join(folder, "earlier"))
            earlier = Eindb(os.path.join(options.against, "eindb"), os.path.join(folder, "earlier"), arguments)
        eindb = Eindb(os.path.join(options.build, "eindb"), folder, arguments, earlier)
        if options.calibrate:
            eindb.calibrate(arguments)
        context = Context(eindb, machine, options.threads, options, options.build)
        outcomes = {group: print_group(group, kept(options, runners()[group](context), machine)) for group in groups}
        eindb.close()
    print_summary(outcomes)
    print(f"\nmachine: {processor_name()}, {options.threads} threads  " + "  ".join(f"{name} {value:.1f}" for name, value in machine.figures().items()))
    machine.close()


def report_groups(path, groups):
    import report

    outcomes, _ = report.read(path)
    print_summary({
        group: print_group(group, [outcome for (of, _), outcome in outcomes.items() if of == group]) for group in groups
    })


def main():
    options = arguments()
    groups = options.groups or GROUPS
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        sys.exit(f"script/bench peers: there is no group {unknown[0]}; there are {' '.join(GROUPS)}")
    prepare_environment(options.threads)
    try:
        import torch  # noqa: F401
    except ImportError as error:
        sys.exit(f"script/bench peers: {error}. script/bootstrap --bench installs the peers")
    if options.report:
        report_groups(options.report, groups)
        return
    run_groups(options, groups)


if __name__ == "__main__":
    main()
