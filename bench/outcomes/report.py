"""Writes outcomes as tables for people and as JSON for programs."""

import json
import os
import statistics

from case import Outcome

PEERS = ("numpy", "torch", "scipy", "graphblas", "scalapack", "sqlite", "dask")


def seconds_text(seconds):
    return f"{seconds:.4f} s" if seconds >= 0.1 else f"{1e3 * seconds:.3f} ms"


def line_of(outcome):
    times = "  ".join(f"{name} {seconds_text(seconds)}" for name, seconds in outcome.seconds.items())
    figures = "  ".join(f"{f.name} {f.value:.3g} {f.verdict()}".rstrip() for f in outcome.figures)
    notes = "".join(f"  [{name}: {text}]" for name, text in outcome.notes.items() if name == "failed")
    return f"{outcome.name:58} {times} | {figures}{notes}"


def over_best_peer(outcome):
    """The time of the fastest peer over that of eindb; None where one of them has none."""
    peers = [outcome.seconds[name] for name in PEERS if name in outcome.seconds]
    return min(peers) / outcome.seconds["eindb"] if peers and outcome.seconds.get("eindb") else None


def summary(outcomes_of_groups):
    """A line for each of {group: outcomes}: the cases, how far they are ahead of the fastest peer, the share of the
    roofline where it is measured, and how many figures miss what is wanted."""
    lines = [f"{'group':12} {'cases':>5} {'over the best peer':>20} {'worst':>7} {'of roofline':>12} {'missed':>10}"]
    for group, outcomes in outcomes_of_groups.items():
        ratios = [ratio for ratio in map(over_best_peer, outcomes) if ratio is not None]
        rooflines = [value for value in (outcome.value("of roofline") for outcome in outcomes) if value]
        wanted = [figure for outcome in outcomes for figure in outcome.figures if figure.verdict()]
        missed = sum(not figure.met() for figure in wanted)
        lines.append(
            f"{group:12} {len(outcomes):5} "
            + (f"{statistics.geometric_mean(ratios):20.3f} {min(ratios):7.3f} " if ratios else f"{'-':>20} {'-':>7} ")
            + (f"{statistics.geometric_mean(rooflines):12.3f} " if rooflines else f"{'-':>12} ")
            + f"{f'{missed} of {len(wanted)}':>10}"
        )
    return "\n".join(lines)


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
