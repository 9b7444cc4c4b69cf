"""The contestants. eindb is measured by EXPLAIN ANALYZE, a peer by the time of a call."""

import gc
import time


class Statement:
    """A query of eindb. Its time is execution_seconds of EXPLAIN ANALYZE."""

    def __init__(self, eindb, query, before=None):
        self._eindb = eindb
        self._query = query
        self._before = before  # a setting that is made before the query, such as SET threads
        self.plan = None  # of the last turn

    def seconds(self):
        if self._before:
            self._eindb.execute(self._before)
        self.plan = self._eindb.analyze(self._query)
        return self.plan["execution_seconds"]

    def choices(self):
        """The same statement at each parallelism that its plan was chosen from, by the name of the choice."""
        if self.plan is None:
            self.seconds()
        tried = [candidate["parallelism"] for candidate in self.plan.get("parallelism_candidates", [])]
        chosen = {"chosen p": Statement(self._eindb, self._query, "RESET parallelism")}
        return chosen | {f"p {p}": Statement(self._eindb, self._query, f"SET parallelism = {p}") for p in tried}

    def of_earlier_build(self):
        """The same statement in the earlier build, or None if there is no such build."""
        return Statement(self._eindb.earlier, self._query, self._before) if self._eindb.earlier else None


class Call:
    """A function of a peer. Its result is freed after the clock has stopped."""

    def __init__(self, function, description=""):
        self.function = function
        self.description = description
        self.best_seconds = None

    def seconds(self):
        gc.disable()
        start = time.perf_counter()
        result = self.function()
        seconds = time.perf_counter() - start
        gc.enable()
        del result
        return seconds


LONG_SECONDS = 0.5  # a call that takes longer is not repeated to warm up


def fastest(calls):
    """The fastest spelling of a peer, by the best of three calls. A spelling whose first call is slow is called once.
    Each call notes its best time."""
    best = None
    for call in calls:
        call.best_seconds = call.seconds()
        if call.best_seconds < LONG_SECONDS and (best is None or call.best_seconds < 3 * best.best_seconds):
            call.best_seconds = min(call.seconds() for _ in range(2))
        if best is None or call.best_seconds < best.best_seconds:
            best = call
    return best
