"""Measures statements on three 8 x 8 tensors in a C++ program, bench/latency_bench.cpp, and parses its table."""

import re
import subprocess

from case import Outcome

PREPARED = "prepared statement of the API"
SECTION = re.compile(r"(\S.*?)\s+10 %\s+median\s+99 %")
ROW = re.compile(r"  (\S.*?)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)")


def outcomes_of(table):
    """A row of the table has four groups: the name, and the 10th, 50th and 99th percentiles in microseconds."""
    section = ""
    for line in table.splitlines():
        if heading := SECTION.fullmatch(line):
            section = heading[1]
        elif row := ROW.fullmatch(line):
            name, _, median, _ = row.groups()
            outcome = Outcome("latency", f"{name}, {section}")
            outcome.seconds["eindb"] = 1e-6 * float(median)
            outcome.add("microseconds", float(median), at_most=50 if name == PREPARED else None)
            yield outcome


def run(context):
    program = context.program("latency")
    if not program:
        print("build/bench/latency is absent")
        return
    done = subprocess.run([program, "2000"], capture_output=True, text=True, check=True)
    yield from (outcome for outcome in outcomes_of(done.stdout) if context.selects(outcome.name))
