"""Measures eindb beside an earlier version of itself, which takes turns with it, and keeps a line for each version.

Usage: script/bench history [--against FOLDER | --since REVISION] [--rounds N] [--cases REGEX] [--threads N] [--build FOLDER] [--add]

Without --against the earlier version is that of the last line of bench/history/versions.jsonl, or the given one; it is built
in build/earlier first. A case is slower, or faster, if the median of its ratios is more than 5 % off and so are three
quarters of the rounds, also when it is measured again with three times as many. --add writes the line of this version, which must be
committed. Exits with 1 if a case is slower.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(FOLDER)
ROOT = os.path.dirname(BENCH)
VERSIONS = os.path.join(FOLDER, "versions.jsonl")
sys.path += [os.path.join(BENCH, "peers"), os.path.join(BENCH, "outcomes")]

from cases import CASES  # noqa: E402
from eindb_process import Eindb, EindbError  # noqa: E402
from processor import processor_name  # noqa: E402
from rounds import measure  # noqa: E402

TOLERANCE = 0.05


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench history", description="Measures eindb beside an earlier version.")
    parser.add_argument("--against", metavar="FOLDER", help="where the earlier version was built")
    parser.add_argument("--since", metavar="REVISION", help="the earlier version (that of the last line)")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each version (9)")
    parser.add_argument("--cases", default="", metavar="REGEX", help="only the cases whose name has this")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of each version (all cores)")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), metavar="FOLDER", help="where eindb was built (build)")
    parser.add_argument("--add", action="store_true", help="adds a line to bench/history/versions.jsonl")
    return parser.parse_args()


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout.strip()


def last_line():
    if not os.path.exists(VERSIONS):
        return None
    with open(VERSIONS, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return json.loads(lines[-1]) if lines else None


def built(revision):
    """The folder in which that version of the program is, which is built where it is not there yet."""
    revision = git("rev-parse", "--verify", f"{revision}^{{commit}}")
    source = os.path.join(ROOT, "build", "earlier", revision[:12])
    folder = os.path.join(source, "build")
    if not os.path.exists(os.path.join(folder, "eindb")):
        if not os.path.exists(source):
            git("worktree", "prune")
            git("worktree", "add", "--detach", source, revision)
        options = ["-DEINDB_BUILD_TESTS=OFF", "-DEINDB_BUILD_BENCHMARKS=OFF"]
        subprocess.run(["cmake", "--preset", "release", *options], cwd=source, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", folder, "--target", "eindb"], check=True, stdout=subprocess.DEVNULL)
    return folder


class Turn:
    """A version's turn at a case."""

    def __init__(self, eindb, case):
        self.eindb, self.case = eindb, case
        self.plan = None

    def seconds(self):
        if self.case.plans:
            self.plan = json.loads(self.eindb.execute_here(f"EXPLAIN (FORMAT json) {self.case.query}"))
            return self.plan["planning_seconds"]
        self.plan = self.eindb.analyze(self.case.query)
        return self.plan["execution_seconds"]


def figures_of(plan):
    """What does not depend on the machine's mood."""
    vertices = plan["vertices"]
    return {
        "calls": sum(vertex.get("kernel_calls", 0) for vertex in vertices),
        "elements": sum(vertex.get("predicted_elements", 0) for vertex in vertices),
        "parallelism": plan.get("parallelism"),
    }


def is_changed(ratios):
    """Whether the median and three quarters of the ratios are off to one side: 1 for slower, -1 for faster, 0."""
    quarters = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
    if quarters[1] > 1 + TOLERANCE and quarters[0] > 1 + TOLERANCE / 2:
        return 1
    if quarters[1] < 1 / (1 + TOLERANCE) and quarters[2] < 1 / (1 + TOLERANCE / 2):
        return -1
    return 0


def ratios_of(times):
    return [now / before for now, before in zip(times["now"], times["earlier"])]


def compared(case, now, earlier, rounds):
    """The outcome of a case as the line has it."""
    contestants = {"now": Turn(now, case)}
    for version in filter(None, (now, earlier)):
        for statement in case.setup:
            version.execute_here(statement)
        version.execute_here("SET plan_cache_size = 0" if case.plans else "RESET plan_cache_size")
    if earlier:
        contestants["earlier"] = Turn(earlier, case)
    try:
        times = measure(contestants, rounds)
        change = is_changed(ratios_of(times)) if earlier else 0
        if change != 0:
            times = measure(contestants, 3 * rounds)
            change = change if is_changed(ratios_of(times)) == change else 0
    finally:
        for version in filter(None, (now, earlier)):
            for statement in case.setup:
                version.execute_here(f"DROP TENSOR {statement.split()[2]}")
    outcome = {"seconds": float(f"{statistics.median(times['now']):.4g}"), **figures_of(contestants["now"].plan)}
    if earlier:
        outcome["over_earlier"] = float(f"{statistics.median(ratios_of(times)):.4g}")
        outcome["change"] = {1: "slower", -1: "faster", 0: "none"}[change]
        before = figures_of(contestants["earlier"].plan)
        if before != figures_of(contestants["now"].plan):
            outcome["earlier"] = before
    return outcome


def line_of(name, outcome):
    text = f"{name:42} {1e3 * outcome['seconds']:10.3f} ms"
    if "over_earlier" in outcome:
        text += f"  {outcome['over_earlier']:6.3f} of the earlier time"
        text += {"slower": "  SLOWER", "faster": "  faster", "none": ""}[outcome["change"]]
    if "earlier" in outcome:
        here = {name: value for name, value in outcome.items() if name in outcome["earlier"]}
        text += f"  planned {here}, earlier {outcome['earlier']}"
    return text


def run(options, cases, earlier_folder):
    """{name of case: outcome}"""
    arguments = ["--threads", str(options.threads)]
    outcomes = {}
    with tempfile.TemporaryDirectory(prefix="eindb-history-") as folder:
        os.mkdir(os.path.join(folder, "earlier"))
        now = Eindb(os.path.join(options.build, "eindb"), folder, arguments)
        earlier = None
        if earlier_folder:
            earlier = Eindb(os.path.join(earlier_folder, "eindb"), os.path.join(folder, "earlier"), arguments)
        for case in cases:
            outcomes[case.name] = compared(case, now, earlier, options.rounds)
            print(line_of(case.name, outcomes[case.name]), flush=True)
        for version in filter(None, (now, earlier)):
            version.close()
    return outcomes


def add_line(options, outcomes, earlier):
    line = {
        "version": git("rev-parse", "HEAD"),
        "date": git("show", "-s", "--format=%cs", "HEAD"),
        "earlier": earlier,
        "processor": processor_name(),
        "threads": options.threads,
        "cases": outcomes,
    }
    with open(VERSIONS, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def main():
    options = arguments()
    if options.add and git("status", "--porcelain", "--untracked-files=no"):
        sys.exit("script/bench history: a line is that of a commit, and there are changes that are not committed")
    cases = [case for case in CASES if re.search(options.cases, case.name)]
    if not cases:
        sys.exit(f"script/bench history: no case has '{options.cases}' in its name")
    last = last_line()
    revision = options.since or (last["version"] if last else None)
    folder = options.against or (built(revision) if revision else None)
    try:
        outcomes = run(options, cases, folder)
    except EindbError as error:
        sys.exit(f"script/bench history: {error}")
    if folder:
        ratios = [outcome["over_earlier"] for outcome in outcomes.values()]
        print(f"{statistics.geometric_mean(ratios):.3f} of the earlier time, the geometric mean of {len(ratios)} cases")
    if options.add:
        add_line(options, outcomes, None if options.against else revision)
    slower = [name for name, outcome in outcomes.items() if outcome.get("change") == "slower"]
    if slower:
        sys.exit("slower: " + "; ".join(slower))


if __name__ == "__main__":
    main()
