"""Measures the memory of an idle connection: the memory of a new server before and after a thousand connections."""

from case import Outcome

MOST_KIBIBYTES = 64


def run(contest):
    count = contest.options.idle
    outcome = Outcome("memory", f"each of {count} connections that wait")
    if not contest.selects(outcome.name):
        return
    for contestant in contest.start_again():
        # Later clients reuse memory that the first ones needed.
        contestant.load.ask("idle 50")
        before = contestant.server.memory_bytes()
        contestant.load.ask(f"idle {count}")
        kibibytes = (contestant.server.memory_bytes() - before) / 1024 / count
        most = MOST_KIBIBYTES if contestant.name == "eindb" else None
        outcome.add(f"{contestant.name} KiB", kibibytes, at_most=most)
    outcome.add("postgres over eindb", outcome.value("postgres KiB") / max(outcome.value("eindb KiB"), 1e-3))
    yield outcome
