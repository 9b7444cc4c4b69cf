"""Measures eindb's server beside PostgreSQL, in turns. See bench/README.md.

Usage: script/bench server [GROUP...] [--quick] [--rounds N] [--seconds S] [--cases REGEX] [--json FILE] [--report FILE]
"""

import argparse
import os
import resource
import signal
import sys
import tempfile

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(os.path.dirname(BENCH), "build")
sys.path.append(os.path.join(BENCH, "outcomes"))

import fetches  # noqa: E402
import memory  # noqa: E402
import report  # noqa: E402
import statements  # noqa: E402
from contest import Contest  # noqa: E402
from servers import postgres_programs  # noqa: E402

GROUPS = {
    "statements": statements.run,
    "slow": statements.run_slow,
    "heavy": statements.run_heavy,
    "pgbench": statements.run_pgbench,
    "arrays": fetches.run_arrays,
    "rows": fetches.run_rows,
    "copy": fetches.run_copy,
    "memory": memory.run,
}


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench server", description="Measures eindb's server beside PostgreSQL.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="all of them, or: " + " ".join(GROUPS))
    parser.add_argument("--quick", action="store_true", help="three rounds of a second each")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each server (7)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a turn that sends statements (3)")
    parser.add_argument("--idle", type=int, default=1000, help="connections that wait (1000)")
    parser.add_argument("--active", type=int, default=32, help="connections that send statements (32)")
    parser.add_argument("--slow", type=int, default=200, help="connections of the slow clients (200)")
    parser.add_argument("--cases", default="", metavar="REGEX", help="only the cases whose name has this")
    parser.add_argument("--json", metavar="FILE", help="adds the outcomes to those that stand in FILE")
    parser.add_argument("--report", metavar="FILE", help="measures nothing, prints what stands in FILE")
    parser.add_argument("--build", default=BUILD, metavar="FOLDER", help="where eindb was built (build)")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = min(options.rounds, 3), min(options.seconds, 1.0)
    return options


def allow_descriptors(count):
    """Raises this process's limit of open files to `count`, and so that of all child processes. Each connection takes a
    descriptor in the server and one in the load generator."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        sys.exit(f"script/bench server: {count} open files are needed, the limit is {hard} (ulimit -n)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))


def run_groups(options, groups):
    before, _ = report.read(options.json)
    with tempfile.TemporaryDirectory(prefix="eindb-server-") as folder, Contest(options, folder) as contest:
        for group in groups:
            print(f"\n== {group}")
            for outcome in GROUPS[group](contest):
                print(report.line_of(outcome), flush=True)
                before[(outcome.group, outcome.name)] = outcome
                if options.json:
                    report.write(options.json, before.values(), contest.machine())


def report_groups(path, groups):
    outcomes, machine = report.read(path)
    for group in groups:
        print(f"\n== {group}")
        for (of, _), outcome in outcomes.items():
            if of == group:
                print(report.line_of(outcome))
    print("\nmachine: " + "  ".join(f"{name} {value}" for name, value in machine.items()))


def main():
    options = arguments()
    groups = options.groups or list(GROUPS)
    unknown = [group for group in groups if group not in GROUPS]
    if unknown:
        sys.exit(f"script/bench server: there is no group {unknown[0]}; there are {' '.join(GROUPS)}")
    if options.report:
        return report_groups(options.report, groups)
    if not postgres_programs():
        sys.exit("script/bench server: there is no PostgreSQL. script/bootstrap --bench installs it")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the servers and removes their folders, too
    allow_descriptors(options.idle + options.active + options.slow + 500)
    run_groups(options, groups)


if __name__ == "__main__":
    main()
