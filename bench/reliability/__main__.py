"""Measures the reliability of eindb: thirteen figures of tests that inject faults, as tries and failures.

Usage: script/bench reliability [--quick | --full] [--only FIGURE]... [--build FOLDER] [--logs FOLDER] [--json FILE]

The tests are those of the test suite, which makes few tries of each. Here they make many: this takes some minutes with
--quick, about an hour by default, and most of a day with --full. Prints each program as it ends, and a table. The exit
status is 1 if anything failed. A program without tries counts as failed.
"""

import argparse
import dataclasses
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from campaigns import ROOT, figures
from counts import Count

# A program that takes longer than this, by size, counts as hung.
MOST_SECONDS = {"quick": 1200, "usual": 3600, "full": 8 * 3600}


def arguments():
    names = list(figures("", "quick"))
    parser = argparse.ArgumentParser(prog="script/bench reliability", description="Harms eindb, and counts.",
                                     epilog="figures: " + " ".join(names))  # fmt: skip
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick", help="a few of each: some minutes")
    size.add_argument("--full", dest="size", action="store_const", const="full", help="every place, many thousands: hours")
    parser.add_argument("--only", action="append", metavar="FIGURE", choices=names, help="this figure; may be repeated")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), metavar="FOLDER", help="where eindb was built (build)")
    parser.add_argument("--logs", metavar="FOLDER", help="where the output of programs that fail goes (a folder in /tmp)")
    parser.add_argument("--json", metavar="FILE", help="writes the figures to FILE")
    parser.set_defaults(size="usual")
    return parser.parse_args()


def run(command, environment, log, seconds):
    """The exit status, or None if the program did not end in time."""
    try:
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
    except OSError as error:
        log.write(f"{error}\n")
        return 127
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@dataclasses.dataclass
class Result:
    """The result of a program, or the sum over several programs."""

    count: Count = dataclasses.field(default_factory=Count)
    seconds: float = 0.0
    commands: list[str] = dataclasses.field(default_factory=list)  # those of the programs that failed

    def __add__(self, other):
        return Result(self.count + other.count, self.seconds + other.seconds, self.commands + other.commands)


class Bench:
    def __init__(self, logs, most_seconds):
        self._logs = logs
        self._most_seconds = most_seconds

    def _log_of(self, name):
        """The path of a log file that no other program uses."""
        path = os.path.join(self._logs, name.replace("/", "-"))
        taken = len([file for file in os.listdir(self._logs) if file.startswith(os.path.basename(path))])
        return f"{path}-{taken}.log" if taken else f"{path}.log"

    def run(self, figure, campaign):
        """Runs one program. Its log is kept if it fails."""
        path = self._log_of(f"{figure.name}-{campaign.name}")
        start = time.monotonic()
        with open(path, "w") as log:
            status = run(campaign.command, campaign.environment, log, self._most_seconds)
        with open(path, errors="replace") as log:
            counted = campaign.count(log.read())
        count = counted.judged(status)
        result = Result(count, time.monotonic() - start)
        if count.failures:
            settings = [f"{name}={shlex.quote(value)}" for name, value in campaign.environment.items()]
            result.commands.append(" ".join([*settings, shlex.join(campaign.command)]) + f"  # {path}")
        else:
            os.remove(path)
        ran = "" if counted.tries else ", ran nothing"
        ended = ", did not end" if status is None else ran
        print(f"  {campaign.name}: {in_words(count)}{ended}, {result.seconds:.0f} s", flush=True)
        return result

    def measure(self, figure):
        print(f"{figure.name}: {figure.title}", flush=True)
        total = Result()
        if figure.needs:
            path = self._log_of(f"{figure.name}-build")
            with open(path, "w") as log:
                status = run(figure.needs, {}, log, self._most_seconds)
            if status != 0:
                return Result(Count(failures=1), 0.0, [f"{shlex.join(figure.needs)}  # {path}"])
            os.remove(path)
        for campaign in figure.campaigns:
            total += self.run(figure, campaign)
        return total


def in_words(count):
    beyond = "" if count.beyond is None else f", at most {count.beyond:.1f} s beyond a time-out ({count.hung} hung)"
    return f"{count.tries} tries, {count.failures} failed{beyond}"


def print_table(results, titles):
    print(f"\n{'figure':12} {'tries':>9} {'failures':>9} {'beyond':>8} {'seconds':>8}  what")
    for name, result in results.items():
        count = result.count
        beyond = "" if count.beyond is None else f"{count.beyond:.1f} s"
        print(f"{name:12} {count.tries:9} {count.failures:9} {beyond:>8} {result.seconds:8.0f}  {titles[name]}")
    failed = [command for result in results.values() for command in result.commands]
    if failed:
        print("\nWhat failed, to be run again:", *failed, sep="\n")


def write_json(path, results):
    found = {
        name: {**dataclasses.asdict(result.count), "seconds": round(result.seconds, 1)} for name, result in results.items()
    }
    with open(path, "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


def main():
    options = arguments()
    found = figures(os.path.abspath(options.build), options.size)
    logs = options.logs or tempfile.mkdtemp(prefix="eindb-reliability-")
    os.makedirs(logs, exist_ok=True)
    print(f"logs of failures: {logs}", flush=True)
    bench = Bench(logs, MOST_SECONDS[options.size])
    results = {name: bench.measure(found[name]) for name in options.only or found}
    print_table(results, {name: figure.title for name, figure in found.items()})
    if options.json:
        write_json(options.json, results)
    sys.exit(1 if any(result.count.failures for result in results.values()) else 0)


if __name__ == "__main__":
    main()
