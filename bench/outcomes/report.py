"""Writes outcomes as tables for people and as JSON for programs."""

import json
import os

from case import Outcome


def seconds_text(seconds):
    return f"{seconds:.4f} s" if seconds >= 0.1 else f"{1e3 * seconds:.3f} ms"


def line_of(outcome):
    times = "  ".join(f"{name} {seconds_text(seconds)}" for name, seconds in outcome.seconds.items())
    figures = "  ".join(f"{f.name} {f.value:.3g} {f.verdict()}".rstrip() for f in outcome.figures)
    notes = "".join(f"  [{name}: {text}]" for name, text in outcome.notes.items() if name == "failed")
    return f"{outcome.name:58} {times} | {figures}{notes}"


def read(path):
    """The outcomes that a file holds from earlier runs, by group and name, and the machine's figures."""
    if not path or not os.path.exists(path):
        return {}, {}
    with open(path) as file:
        data = json.load(file)
    outcomes = [Outcome.from_json(case) for case in data["cases"]]
    return {(outcome.group, outcome.name): outcome for outcome in outcomes}, data["machine"]


def write(path, outcomes, machine):
    with open(path, "w") as file:
        json.dump({"machine": machine, "cases": [outcome.to_json() for outcome in outcomes]}, file, indent=1)
        file.write("\n")
