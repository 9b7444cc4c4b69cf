"""The load of a history test: random transactions on lists and registers, and the threads that run them."""

import random
import threading

from clients import Failed, Hung, Lost
from transactions import Operation, Outcome

# TABLES are lists in a table of the coordinator's file. LISTS and REGISTERS are tensors, whose tiles workers may have.
TABLES = ("a", "b")
LISTS = ("L0", "L1", "L2")
REGISTERS = ("R0", "R1")
# The capacity of a list. Clients stop before it is full.
LIST_CELLS = 4096

# {0} is the placement of tensors: REPLICAS 2, or nothing.
SCHEMA = (
    "CREATE TABLE appended (n INTEGER PRIMARY KEY, list TEXT, val INTEGER)",
    *(f"CREATE TENSOR {name} (i {LIST_CELLS}) INT64 PARTITION (16) {{0}}" for name in LISTS),
    *(f"CREATE TENSOR {name} (i 24, j 24) INT64 PARTITION (4, 4) {{0}}" for name in REGISTERS),
)


def statement_of(operation, choice):
    """A statement of the operation. `choice` chooses one of several equivalent statements."""
    key, value = operation.key, operation.value
    if operation.kind == "append" and key in TABLES:
        return f"INSERT INTO appended (list, val) VALUES ('{key}', {value})"
    if operation.kind == "read" and key in TABLES:
        return f"SELECT val FROM appended WHERE list = '{key}' ORDER BY n"
    if operation.kind == "append":
        return (
            f"WITH c[] = SUM({key}[j] > 0) "
            f"UPDATE TENSOR {key}[i] = CASE WHEN i = c[] THEN {value} ELSE {key}[i] END"
        )
    if operation.kind == "read":
        return choice([f"SELECT val FROM {key} WHERE val <> 0 ORDER BY i", f"EINSUM Z[i] = {key}[i]"])
    if operation.kind == "replace":
        return choice(
            [
                f"UPDATE TENSOR {key}[i,j] = {value}",
                f"UPDATE TENSOR {key}[i,j] = 0 * {key}[j,i] + {value}",
            ]
        )
    return choice(
        [
            f"SELECT DISTINCT val FROM {key}",
            f"WITH m[] = MIN({key}[i,j]), n[] = MAX({key}[i,j]) EINSUM Z[t 2] = CASE WHEN t = 0 THEN m[] ELSE n[] END",
        ]
    )


def found_in(rows):
    """The values that a read or look found, which are in the last column."""
    return [int(float(row[-1])) for row in rows]


def without_free_places(values):
    while values and values[-1] == 0:
        values.pop()
    return values


class Workload:
    """Threads of clients, which run their own transactions until stop()."""

    def __init__(self, history, clients, seed, tables_only=()):
        """`tables_only` names clients that cannot use tensors."""
        self._history = history
        self._tables_only = tables_only
        self._stopping = threading.Event()
        self.hung = []
        self.count_of_lists = dict.fromkeys(LISTS, 0)
        self._lock = threading.Lock()  # guards count_of_lists and hung
        self._threads = [
            threading.Thread(target=self._run, args=(client, f"{client.name}{n}", random.Random(f"{seed} {n}")))
            for n, client in enumerate(clients)
        ]

    def start(self):
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _run(self, client, name, rng):
        while not self._stopping.is_set():
            try:
                transaction = self.execute(client, name, self._operations(rng, client), rng)
            except Hung:
                return
            # Refused clients wait longer.
            self._stopping.wait(rng.random() * (0.01 if transaction.outcome is Outcome.DONE else 0.05))

    def execute(self, client, name, operations, rng):
        """Executes one transaction, and records it. Raises Hung, which is recorded, too."""
        statements = [statement_of(operation, rng.choice) for operation in operations]
        transaction = self._history.begin(name, operations)
        try:
            for operation, rows in zip(operations, client.run(statements)):
                if operation.kind in ("read", "look"):
                    found = found_in(rows)
                    operation.found = without_free_places(found) if operation.kind == "read" else found
            self._history.end(transaction, Outcome.DONE)
        except Failed as error:
            self._history.end(transaction, Outcome.FAILED, str(error))
        except Lost as error:
            transaction.error = str(error)
        except Hung as error:
            transaction.error = f"hung: {error}"
            with self._lock:
                self.hung.append(transaction)
            raise
        return transaction

    def _operations(self, rng, client):
        """The operations of a transaction, mostly one. Each key is used once, since a later read would see the
        transaction's own write."""
        count = rng.choice([1, 1, 1, 2, 3])
        keys = list(TABLES) if client.name in self._tables_only else [*TABLES, *LISTS, *REGISTERS]
        return [self._operation(rng, key) for key in rng.sample(keys, min(count, len(keys)))]

    def _operation(self, rng, key):
        writes = rng.random() < 0.5 and self._has_room(key)
        if key in REGISTERS:
            return Operation("replace", key, self._history.new_value()) if writes else Operation("look", key)
        return Operation("append", key, self._history.new_value()) if writes else Operation("read", key)

    def _has_room(self, key):
        if key not in self.count_of_lists:
            return True
        with self._lock:
            self.count_of_lists[key] += 1
            return self.count_of_lists[key] < LIST_CELLS
