"""Counts the tries and failures of a test program, from its output."""

import dataclasses
import re


@dataclasses.dataclass
class Count:
    tries: int = 0
    failures: int = 0
    hung: int = 0  # those of the failures in which a statement exceeded the promised time
    beyond: float | None = None  # the most seconds by which a statement exceeded its statement_timeout, if measured

    def __add__(self, other):
        measured = [count.beyond for count in (self, other) if count.beyond is not None]
        return Count(self.tries + other.tries, self.failures + other.failures, self.hung + other.hung,
                     max(measured, default=None))  # fmt: skip

    def judged(self, status):
        """The count corrected by the exit status. A program that ends with an error has at least one failure, and so
        has one without tries."""
        if self.failures == 0 and (status != 0 or self.tries == 0):
            return dataclasses.replace(self, failures=1)
        return self


def lines(output):
    """Counts lines `reliability NAME ... tries=N ... failed=M ...`, which may have hung=N beyond=SECONDS, too."""
    total = Count()
    # Python's unittest may have printed a letter for each test before the line.
    for line in re.findall(r"^[.FEs]*reliability \S+ .*$", output, re.MULTILINE):
        fields = dict(re.findall(r" (tries|failed|hung|beyond)=([\d.]+)(?= |$)", line))
        if "tries" in fields and "failed" in fields:
            beyond = float(fields["beyond"]) if "beyond" in fields else None
            total += Count(int(fields["tries"]), int(fields["failed"]), int(fields.get("hung", 0)), beyond)
    return total


def googletest(output):
    """Counts tests of GoogleTest, without skipped ones."""
    ran = re.search(r"^\[=+\] (\d+) tests? from .* ran\.", output, re.MULTILINE)
    skipped = re.search(r"^\[  SKIPPED \] (\d+) tests?", output, re.MULTILINE)
    failed = re.search(r"^\[  FAILED  \] (\d+) tests?", output, re.MULTILINE)
    tries = int(ran[1]) - (int(skipped[1]) if skipped else 0) if ran else 0
    return Count(tries, int(failed[1]) if failed else 0)


def unittest(output):
    """Counts tests of Python's unittest, without skipped ones."""
    ran = re.search(r"^Ran (\d+) tests?", output, re.MULTILINE)
    end = re.search(r"^(?:OK|FAILED)(?: \((.*)\))?$", output, re.MULTILINE)
    numbers = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", end[1] or "")} if end else {}
    tries = int(ran[1]) - numbers.get("skipped", 0) if ran else 0
    return Count(tries, numbers.get("failures", 0) + numbers.get("errors", 0))


def sqllogictest(output):
    """Counts cases of scripts."""
    counted = re.search(r"^\d+ files, (\d+) cases, (\d+) failed$", output, re.MULTILINE)
    return Count(int(counted[1]), int(counted[2])) if counted else Count()


def libfuzzer(output):
    """Counts inputs of libFuzzer. It stops at the first input that fails."""
    done = re.findall(r"^Done (\d+) runs", output, re.MULTILINE) or re.findall(r"^#(\d+)\s", output, re.MULTILINE)
    found = re.search(r"^SUMMARY: |^==\d+== ?ERROR|: deadly signal", output, re.MULTILINE)
    return Count(max(map(int, done), default=0), 1 if found else 0)
