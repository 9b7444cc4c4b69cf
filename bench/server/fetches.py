"""Measures large results: tensors as one value, as rows, and by COPY."""

import statistics
from dataclasses import dataclass

from case import Outcome
from load import Refused

LEAST_MEGABYTES_A_SECOND = 500


@dataclass
class Case:
    """A statement for each server, a statement that eindb runs before it, and the form of the values: `text` or
    `binary`, or `simple`, which is a Query message."""

    name: str
    mode: str
    eindb: str
    postgres: str
    eindb_before: str = ""
    at_least: float | None = None

    def statement(self, server):
        return getattr(self, server)


ARRAYS = [
    Case(
        "100 MB as .npy, binary", "binary", "EINSUM Z[i,j] = F[i,j]", "SELECT bytes FROM f",
        eindb_before="SET result_format = 'npy'", at_least=LEAST_MEGABYTES_A_SECOND,
    ),
    Case(
        "100 MB as an array, binary", "binary", "EINSUM Z[i,j] = F[i,j]", "SELECT numbers FROM f",
        eindb_before="SET result_format = 'array'", at_least=LEAST_MEGABYTES_A_SECOND,
    ),
]  # fmt: skip
ROWS = [
    Case("a million rows of EINSUM, binary", "binary", "EINSUM Z[i,j] = R[i,j]", "SELECT i, j, val FROM r"),
    Case("a million rows of EINSUM, text", "simple", "EINSUM Z[i,j] = R[i,j]", "SELECT i, j, val FROM r"),
    Case("a million rows of SELECT, binary", "binary", "SELECT i, j, val FROM R", "SELECT i, j, val FROM r"),
    Case("a million rows of SELECT, text", "simple", "SELECT i, j, val FROM R", "SELECT i, j, val FROM r"),
]
COPIES = [
    Case(f"a million rows, {format_}", "simple", *(f"COPY {name} TO STDOUT (FORMAT {format_})" for name in "Rr"))
    for format_ in ("text", "csv", "binary")
]


def run_arrays(contest):
    yield from run_cases(contest, "arrays", ARRAYS)


def run_rows(contest):
    yield from run_cases(contest, "rows", ROWS)


def run_copy(contest):
    yield from run_cases(contest, "copy", COPIES)


def run_cases(contest, group, cases):
    for case in cases:
        if not contest.selects(case.name):
            continue
        outcome = Outcome(group, case.name)
        try:
            measure(contest, case, outcome)
        except Refused as error:
            outcome.notes["failed"] = str(error)
        yield outcome


def fetch(contestant, case):
    before = case.eindb_before if contestant.name == "eindb" else ""
    if before:
        contestant.load.ask(f"do {before}")
    fetched = contestant.load.ask(f"fetch {case.mode} {case.statement(contestant.name)}")
    if before:
        contestant.load.ask("do RESET ALL")
    return fetched


def measure(contest, case, outcome):
    """The bytes are those of each server's own encoding of the rows. Only the times are compared."""
    fetched = {contestant.name: [] for contestant in contest.contestants()}
    for contestant in contest.contestants():
        fetch(contestant, case)
    for _ in range(contest.options.rounds):
        for contestant in contest.contestants():
            fetched[contestant.name].append(fetch(contestant, case))
    for name, of_server in fetched.items():
        outcome.seconds[name] = statistics.median(one["seconds"] for one in of_server)
        outcome.notes[f"{name} bytes"] = of_server[0]["bytes"]
        outcome.notes[f"{name} rows"] = of_server[0]["rows"]
    ours, theirs = fetched["eindb"], fetched["postgres"]
    outcome.add("over postgres", statistics.median(b["seconds"] / a["seconds"] for a, b in zip(ours, theirs)))
    outcome.add("MB/s", megabytes_a_second(ours), at_least=case.at_least)
    outcome.add("postgres MB/s", megabytes_a_second(theirs))


def megabytes_a_second(fetched):
    return statistics.median(1e-6 * one["bytes"] / one["seconds"] for one in fetched)
