"""The history that checks.py judges: the transactions of clients, and the answers that they received.

A transaction is a list of operations on keys. Every written value is unique in the history, so a read identifies the
transaction that wrote it. The operations are:

- append adds the value at the end of the list `key`; read returns the whole list.
- replace sets all cells of the register `key` to the value; look returns the values of its cells.
"""

import dataclasses
import enum
import itertools
import threading
import time


class Outcome(enum.Enum):
    """The answer that the client received. It is unknown if the other side or the client itself ended before."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclasses.dataclass
class Operation:
    kind: str  # "append", "read", "replace" or "look"
    key: str
    value: int | None = None  # the written value
    found: list[int] | None = None  # the values that were read, or None without an answer

    @property
    def writes(self):
        return self.kind in ("append", "replace")


@dataclasses.dataclass
class Transaction:
    number: int
    client: str
    operations: list[Operation]
    start: float
    end: float = float("inf")
    outcome: Outcome = Outcome.UNKNOWN
    error: str = ""

    def __str__(self):
        did = ", ".join(
            f"{operation.kind} {operation.key} {operation.value if operation.writes else operation.found}"
            for operation in self.operations
        )
        told = f"{self.outcome.value} {self.error}".strip()
        return f"#{self.number} {self.client} [{self.start:.4f}, {self.end:.4f}] {told}: {did}"


class History:
    """All transactions. Thread-safe, since each client is a thread. Times are seconds since the beginning."""

    def __init__(self):
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self._values = itertools.count(1)
        self.transactions = []

    def now(self):
        return time.monotonic() - self._start

    def new_value(self):
        with self._lock:
            return next(self._values)

    def begin(self, client, operations):
        with self._lock:
            transaction = Transaction(len(self.transactions), client, operations, self.now())
            self.transactions.append(transaction)
        return transaction

    def end(self, transaction, outcome, error=""):
        transaction.end = self.now()
        transaction.outcome = outcome
        transaction.error = " ".join(error.split())[:200]
