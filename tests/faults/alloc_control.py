"""Controls the library of tests/faults/alloc_shim in a program: a test chooses the calls that fail."""

import contextlib
import mmap
import os
import random
import re
import tempfile
import threading

ALLOCATIONS, MAPS, THREADS = 1, 2, 4

TO_THE_END = 1 << 62  # calls
# The numbers of consecutive calls that fail: one; several, so that alternatives fail, too; or all for a while.
RUNS = (1, 3, 100, TO_THE_END)
# Then memory is available again. Some actions are only possible then, such as reporting the lack of memory.
END_SECONDS = 0.5

WANTED = os.environ.get("EINDB_FAULTS", "")  # "all", or the calls to try: "56", "56-99", "56+100" for a run of 100
SEED = int(os.environ.get("EINDB_FAULTS_SEED", "17"))
TRIES = int(os.environ.get("EINDB_FAULTS_TRIES", "25"))


def sample(calls, tries, seed):
    """A sample of calls. A half of them is early, since early failures can leave the most unfinished work."""
    if calls <= tries:
        return range(1, calls + 1)
    chooser = random.Random(seed)
    early = chooser.sample(range(1, calls // 8 + 1), min(tries // 2, calls // 8))
    late = chooser.sample(range(calls // 8 + 1, calls + 1), tries - len(early))
    return sorted(early) + sorted(late)


def trials(calls):
    """(first, number) of consecutive failing calls: single ones, all of `calls` or TRIES, and some longer runs."""
    if WANTED not in ("", "all"):
        first, last, number = re.fullmatch(r"(\d+)(?:-(\d+))?(?:\+(\d+))?", WANTED).groups()
        return [(n, int(number or 1)) for n in range(int(first), int(last or first) + 1)]
    singles = range(1, calls + 1) if WANTED == "all" else sample(calls, TRIES, SEED)
    fewer = max(1, TRIES // 5)
    return [(first, 1) for first in singles] + [
        (first, number) for number in RUNS[1:] for first in sample(calls, fewer, f"{SEED} {number}")
    ]


def words_for(trial):
    first, number = trial
    return f"call {first}" + {1: "", TO_THE_END: " to the end"}.get(number, f" and {number - 1} more")


class Tally:
    """Counts the outcomes of the trials of a case. Problems are printed at once, and report() prints the totals."""

    def __init__(self, case):
        self._case = case
        self._tries = self._done = 0
        self.problems = []

    def add(self, trial, result, problem=None):
        """`result` is "done", "refused", or a description of a wrong result."""
        self._tries += 1
        self._done += result == "done"
        if result not in ("done", "refused"):
            problem = result
        if problem:
            self.problems.append(f"{words_for(trial)}: {problem}")
            print(f"  {self._case}, {self.problems[-1]}", flush=True)

    def report(self, calls):
        print(f"reliability allocations case={self._case!r} calls={calls} tries={self._tries} done={self._done} "
              f"failed={len(self.problems)}", flush=True)  # fmt: skip


class Control:
    """The file that the library maps. The head of alloc_shim.cpp defines its format."""

    def __init__(self, shim):
        self._shim = shim
        self._file = tempfile.NamedTemporaryFile(prefix="eindb-alloc-")
        self._file.truncate(4096)
        self._map = mmap.mmap(self._file.fileno(), 4096)
        self._fields = memoryview(self._map).cast("Q")

    def environment(self):
        return {**os.environ, "LD_PRELOAD": self._shim, "EINDB_ALLOC_FAULTS": self._file.name}

    def arm(self, first, number=1, kinds=ALLOCATIONS):
        """From now on `number` calls of these kinds fail, from call `first` on. If `first` is 0, no call fails."""
        self._fields[3] = self._fields[4] = 0
        self._fields[1], self._fields[2] = first, number
        self._fields[0] = kinds

    @contextlib.contextmanager
    def failing(self, first, number=1, kinds=ALLOCATIONS):
        """Calls fail until the end of the block. If all calls fail, that ends after END_SECONDS."""
        self.arm(first, number, kinds)
        end = threading.Event()
        timer = threading.Thread(target=lambda: end.wait(END_SECONDS) or self.disarm())
        if number == TO_THE_END:
            timer.start()
        try:
            yield
        finally:
            end.set()
            self.disarm()
            if number == TO_THE_END:
                timer.join()

    def disarm(self):
        self._fields[0] = 0

    @property
    def counts(self):
        """The number of calls since arm(), and how many of them failed."""
        return self._fields[3], self._fields[4]

    @property
    def reads(self):
        """How many times the program has read its standard input."""
        return self._fields[5]

    def close(self):
        self._fields.release()
        self._map.close()
        self._file.close()
