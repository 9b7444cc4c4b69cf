"""Measures short statements of 32 clients beside a thousand idle ones."""

import re
import statistics
import subprocess
import tempfile
import threading
from dataclasses import dataclass

import psycopg
from case import Outcome
from servers import DATABASE, USER, postgres_programs

LEAST_A_SECOND = 20000
MOST_P99_MS = 10
MOST_SLOWDOWN = 2
MOST_P99_BESIDE_HEAVY_MS = 100
HEAVY = "EINSUM s = SUM(R[i,j] * R[j,k] * SIN(R[i,k]))"
HEAVY_CLIENTS = 8


@dataclass
class Case:
    """The same query for each server. `{}` and $1 stand for keys between 1 and 10,000."""

    name: str
    mode: str
    eindb: str
    postgres: str
    is_simple: bool = True  # it computes no tensor

    def statement(self, server):
        return getattr(self, server)


POINT = "SELECT name FROM t WHERE n = "
CASES = [
    Case("SELECT 1, simple", "simple", "SELECT 1", "SELECT 1"),
    Case("SELECT 1, prepared", "prepared", "SELECT 1", "SELECT 1"),
    Case("a row by its key, simple", "simple", POINT + "{}", POINT + "{}"),
    Case("a row by its key, prepared", "prepared", POINT + "$1", POINT + "$1"),
    Case(
        "sums of 8 rows, prepared",
        "prepared",
        "EINSUM Z[i] = SUM(X[i,j]) * $1",
        "SELECT i, SUM(val) * $1 FROM x GROUP BY i",
        is_simple=False,
    ),
]


def turn(contestant, command):
    """The figures of a run, and the statements per CPU second of the server."""
    before = contestant.server.cpu_seconds()
    ran = contestant.load.ask(command)
    ran["per second"] = ran["statements"] / ran["seconds"]
    ran["per core"] = ran["answered"] / max(contestant.server.cpu_seconds() - before, 1e-9)
    return ran


def median_of(runs, name):
    return statistics.median(run[name] for run in runs)


def median_ratio(runs, others, name):
    return statistics.median(run[name] / other[name] for run, other in zip(runs, others))


def run(contest):
    contestants = contest.contestants()
    for contestant in contestants:
        contestant.open_clients(contest.options)
    for case in CASES:
        if contest.selects(case.name):
            yield run_case(contest, case)


def run_case(contest, case):
    runs = {contestant.name: [] for contestant in contest.contestants()}
    for _ in range(contest.options.rounds):
        for contestant in contest.contestants():
            command = f"run {contest.options.seconds} {case.mode} {case.statement(contestant.name)}"
            runs[contestant.name].append(turn(contestant, command))
    outcome = Outcome("statements", case.name)
    for name, of_server in runs.items():
        outcome.seconds[name] = 1 / median_of(of_server, "per second")
        outcome.notes[f"{name} generator's share of its core"] = round(
            statistics.median(run["generator cpu"] / run["seconds"] for run in of_server), 2
        )
    ours, theirs = runs["eindb"], runs["postgres"]
    outcome.add("over postgres", median_ratio(ours, theirs, "per second"))
    outcome.add("a second", median_of(ours, "per second"), at_least=LEAST_A_SECOND if case.is_simple else None)
    outcome.add("per second of CPU", median_of(ours, "per core"))
    outcome.add("that over postgres", median_ratio(ours, theirs, "per core"))
    for name, of_server in runs.items():
        outcome.add(f"{name} p50 ms", 1e3 * median_of(of_server, "p50"))
        most = MOST_P99_MS if name == "eindb" and case.is_simple else None
        outcome.add(f"{name} p99 ms", 1e3 * median_of(of_server, "p99"), at_most=most)
    return outcome


def run_slow(contest):
    """Compares SELECT 1 with and without clients that send a byte now and then, in turns."""
    outcome = Outcome("slow", f"SELECT 1 beside {contest.options.slow} slow clients")
    if not contest.selects(outcome.name):
        return
    command = f"run {contest.options.seconds} simple SELECT 1"
    runs = {}
    for contestant in contest.contestants():
        contestant.open_clients(contest.options)
    for _ in range(contest.options.rounds):
        for contestant in contest.contestants():
            for count in (0, contest.options.slow):
                contestant.load.ask(f"slow {count}")
                runs.setdefault((contestant.name, count > 0), []).append(turn(contestant, command))
            contestant.load.ask("slow 0")
    for name in ("eindb", "postgres"):
        beside, alone = runs[name, True], runs[name, False]
        outcome.seconds[name] = 1 / median_of(beside, "per second")
        most = MOST_SLOWDOWN if name == "eindb" else None
        outcome.add(f"{name} p99 over that alone", median_ratio(beside, alone, "p99"), at_most=most)
        outcome.add(f"{name} p99 ms", 1e3 * median_of(beside, "p99"))
    yield outcome


class HeavyClients:
    """Connections of another user to eindb, which repeat a heavy statement until the end of the block."""

    def __init__(self, server):
        self._port = server.port
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(HEAVY_CLIENTS)]

    def _run(self):
        arguments = {"host": "127.0.0.1", "port": self._port, "user": "heavy", "dbname": DATABASE}
        with psycopg.connect(**arguments, autocommit=True) as connection:
            while not self._ends.is_set():
                connection.execute(HEAVY).fetchall()

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        for thread in self._threads:
            thread.join()


def run_heavy(contest):
    """Compares short statements of eindb with and without another user's heavy ones beside them, in turns."""
    outcome = Outcome("heavy", f"SELECT 1 beside {HEAVY_CLIENTS} clients with heavy statements")
    if not contest.selects(outcome.name):
        return
    command = f"run {contest.options.seconds} simple SELECT 1"
    contestant = next(each for each in contest.contestants() if each.name == "eindb")
    contestant.open_clients(contest.options)
    alone, beside = [], []
    for _ in range(contest.options.rounds):
        alone.append(turn(contestant, command))
        with HeavyClients(contestant.server):
            beside.append(turn(contestant, command))
    outcome.seconds["eindb"] = 1 / median_of(beside, "per second")
    outcome.add("eindb p99 over that alone", median_ratio(beside, alone, "p99"))
    outcome.add("eindb p99 ms", 1e3 * median_of(beside, "p99"), at_most=MOST_P99_BESIDE_HEAVY_MS)
    yield outcome


# ---- pgbench -----------------------------------------------------------------------------------------------------------

SCRIPT = "\\set k random(1, 10000)\nSELECT name FROM t WHERE n = :k;\n"


def pgbench(contestant, mode, options):
    """The statements per second that pgbench reports."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(SCRIPT)
        script.flush()
        command = [f"{postgres_programs()}/pgbench", "-n", "-M", mode, "-c", str(options.active), "-j", "1"]
        command += ["-T", str(max(1, round(options.seconds))), "-f", script.name]
        command += ["-h", "127.0.0.1", "-p", str(contestant.server.port), "-U", USER, DATABASE]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(re.search(r"tps = ([\d.]+)", done.stdout)[1])


def run_pgbench(contest):
    """Repeats the lookup of a row by its key, with pgbench as the client."""
    for mode in ("simple", "extended", "prepared"):
        outcome = Outcome("pgbench", f"a row by its key, {mode}")
        if not contest.selects(outcome.name):
            continue
        rates = {contestant.name: [] for contestant in contest.contestants()}
        for _ in range(contest.options.rounds):
            for contestant in contest.contestants():
                rates[contestant.name].append(pgbench(contestant, mode, contest.options))
        for name, of_server in rates.items():
            outcome.seconds[name] = 1 / statistics.median(of_server)
        ratios = [ours / theirs for ours, theirs in zip(rates["eindb"], rates["postgres"])]
        outcome.add("over postgres", statistics.median(ratios))
        outcome.add("a second", statistics.median(rates["eindb"]))
        yield outcome
