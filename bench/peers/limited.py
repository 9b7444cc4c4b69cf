"""Contestants that have so many seconds for a case: programs of peers, which are ended when they take longer, and
statements of eindb, which end themselves."""

import json
import os
import select
import subprocess
import sys
import time

from eindb_process import EindbError
from rounds import turn

PREPARE_SECONDS = 120
SAVE_SECONDS = 5
ONCE_SECONDS = 2.0  # what takes longer is measured once


class Stopped(Exception):
    """A contestant has no time for a case. The text says why."""


class LimitedStatement:
    """A statement of eindb under its statement_timeout."""

    def __init__(self, statement, limit):
        self._statement = statement
        self._limit = limit

    def turn(self):
        return under_limit(lambda: turn(self._statement), self._limit)


def under_limit(action, limit):
    start = time.perf_counter()
    try:
        return action()
    except EindbError as error:
        if time.perf_counter() - start >= limit:
            raise Stopped(f"not within {limit:g} s") from error
        lines = str(error).strip().split("\n")
        raise Stopped(lines[1] if len(lines) > 1 else lines[0]) from error


class PeerProgram:
    """A library in a process of its own, started again after it was ended. `arguments` are those of the library."""

    def __init__(self, library, threads, limit, arguments=()):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sparse_peer.py")
        self._command = [sys.executable, "-W", "ignore", path, library, str(threads), *arguments]
        self._limit = limit
        self._process = None
        self.absent = None
        self._start()

    def _start(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._read = b""
        self.absent = self._answer(PREPARE_SECONDS).get("absent")

    def close(self):
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answer(self, limit):
        end = time.monotonic() + limit
        while b"\n" not in self._read:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                self.close()
                raise Stopped(f"not within {min(limit, self._limit):g} s")
            part = os.read(self._process.stdout.fileno(), 65536)
            if not part:
                self.close()
                raise Stopped("its program has ended")
            self._read += part
        line, self._read = self._read.split(b"\n", 1)
        return json.loads(line)

    def _ask(self, request, limit):
        if self._process is None:
            raise Stopped("its program has ended")
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._answer(limit)
        if "failed" in answer:
            raise Stopped(answer["failed"])
        return answer

    def prepare(self, workload, files):
        """Makes the inputs of a workload what the library takes."""
        if self._process is None:
            self._start()
        self._ask({"prepare": workload, "files": files}, PREPARE_SECONDS)

    def result(self, path):
        """The file with the result, whose name begins with `path`."""
        return self._ask({"result": path}, self._limit + SAVE_SECONDS)["path"]

    def turn(self):
        # A short case takes several calls, and a pause before and after them.
        seconds = self._ask({"time": True}, self._limit + 3)["seconds"]
        if seconds > self._limit:
            raise Stopped(f"not within {self._limit:g} s")
        return seconds


def measure_limited(contestants, rounds):
    """{name: [seconds of each round]} of contestants that have a method turn(), and {name: reason} of those stopped."""
    times, stopped = {name: [] for name in contestants}, {}
    order = list(contestants.items())
    for _ in range(rounds):
        for name, contestant in order:
            if name in stopped or (times[name] and times[name][-1] > ONCE_SECONDS):
                continue
            try:
                times[name].append(contestant.turn())
            except Stopped as reason:
                stopped[name] = str(reason)
        order.reverse()  # so that nobody always follows the same contestant
    return {name: seconds for name, seconds in times.items() if seconds and name not in stopped}, stopped
