"""Judges a history. Acknowledged changes are there, failed ones are not, no transaction is visible in part, and one
order of all transactions explains every answer and agrees with real time (strict serializability).

The rules for lists are those of Elle (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental
Observations", 2020). Values are unique and lists only grow, so reads reveal the order of all appends to a list. This
order defines edges between transactions: ww to the next append, wr from an append to a read that sees it, and rw from a
read to the first append that it does not see. Together with edges of real time they must have no cycle.

Registers that are overwritten as a whole are judged by the zones of Gibbons and Korach ("Testing Shared Memories",
1997), which decide linearizability if every value is written once.
"""

import collections
import dataclasses

from transactions import Outcome

INFINITY = float("inf")


@dataclasses.dataclass(frozen=True)
class Anomaly:
    """`rule` names the kind of the anomaly, `text` describes it with its transactions."""

    rule: str
    text: str


def check(history):
    """All anomalies of a list of transactions."""
    writers = _writers(history)
    return [
        *_lists(history, writers),
        *_registers(history, writers),
    ]


def _writers(history):
    """The transaction that wrote each value of each key."""
    return {(op.key, op.value): t for t in history for op in t.operations if op.writes}


def _reads(history, kind):
    """(transaction, operation) of all answered reads of transactions that did not fail."""
    for transaction in history:
        if transaction.outcome is Outcome.FAILED:
            continue  # a failed transaction's reads need not agree
        for operation in transaction.operations:
            if operation.kind == kind and operation.found is not None:
                yield transaction, operation


# ---- Lists ---------------------------------------------------------------------------------------------------------


def _lists(history, writers):
    found = []
    for transaction, read in _reads(history, "read"):
        found += _impossible_values(transaction, read, writers)
    orders, forks = _orders(history)
    found += forks
    if not found:
        found += _lost_appends(history, orders)
        found += _cycles(history, writers, orders)
    return found


def _appends(transaction, key):
    return [op.value for op in transaction.operations if op.kind == "append" and op.key == key]


def _impossible_values(transaction, read, writers):
    """Anomalies of a read: values that nobody wrote, that occur twice, of a failed transaction, or of a part of one."""
    if len(set(read.found)) != len(read.found):
        yield Anomaly("value twice", f"{read.key} has a value twice: {transaction}")
    seen = set(read.found)
    for value in read.found:
        writer = writers.get((read.key, value))
        if writer is None:
            yield Anomaly("value from nowhere", f"{read.key} has {value}, which nobody wrote: {transaction}")
        elif writer.outcome is Outcome.FAILED:
            yield Anomaly("dirty read", f"{value} of a failed transaction is in {read.key}: {writer}; {transaction}")
        elif writer is not transaction and not seen.issuperset(_appends(writer, read.key)):
            yield Anomaly("half read", f"{read.key} has a part of what {writer} appended: {transaction}")


def _orders(history):
    """The longest list that was read of each key, and an anomaly for each read that is not a prefix of it."""
    reads = collections.defaultdict(list)
    for transaction, read in _reads(history, "read"):
        reads[read.key].append((transaction, read))
    orders, forks = {}, []
    for key, of_key in reads.items():
        longest = max((read.found for _, read in of_key), key=len)
        orders[key] = longest
        forks += [
            Anomaly("fork", f"{key} is no beginning of {longest}: {transaction}")
            for transaction, read in of_key
            if read.found != longest[: len(read.found)]
        ]
    return orders, forks


def _lost_appends(history, orders):
    """Acknowledged appends that are missing in the last read, which follows the end of all clients."""
    last = {}
    for transaction, read in _reads(history, "read"):
        if read.key not in last or transaction.start > last[read.key][0]:
            last[read.key] = (transaction.start, set(read.found))
    for transaction in history:
        if transaction.outcome is not Outcome.DONE:
            continue
        for key in {op.key for op in transaction.operations if op.kind == "append"}:
            start, values = last.get(key, (-1, set()))
            missing = [value for value in _appends(transaction, key) if value not in values]
            if missing and start > transaction.end:
                yield Anomaly("lost write", f"{missing} of {key} was acknowledged and is gone: {transaction}")


def _dependencies(history, writers, orders):
    """Edges {transaction: {transaction}} by number, from reads and writes of lists."""
    edges = collections.defaultdict(set)

    def add(before, after):
        if before is not after:
            edges[before.number].add(after.number)

    for key, order in orders.items():
        owners = [writers[key, value] for value in order]
        for before, after in zip(owners, owners[1:]):
            add(before, after)
    for transaction, read in _reads(history, "read"):
        order = orders[read.key]
        own = set(_appends(transaction, read.key))
        seen = [value for value in read.found if value not in own]
        if seen:
            add(writers[read.key, seen[-1]], transaction)
        following = next((value for value in order[len(read.found) :] if value not in own), None)
        if following is not None:
            add(transaction, writers[read.key, following])
        elif len(read.found) == len(order):  # no read saw a later append; _lost_appends checks acknowledged ones
            pass
    return edges


def _add_real_time(history, edges, next_number):
    """Adds edges from each acknowledged transaction to those that began later. A chain of moments keeps them few."""
    ends = sorted((t for t in history if t.outcome is Outcome.DONE), key=lambda t: t.end)
    for index, transaction in enumerate(ends):
        edges[transaction.number].add(next_number + index)
        if index + 1 < len(ends):
            edges[next_number + index].add(next_number + index + 1)
    index = 0
    for transaction in sorted(history, key=lambda t: t.start):
        while index < len(ends) and ends[index].end < transaction.start:
            index += 1
        if index > 0:
            edges[next_number + index - 1].add(transaction.number)


def _cycles(history, writers, orders):
    edges = _dependencies(history, writers, orders)
    by_number = {t.number: t for t in history}
    next_number = max(by_number, default=0) + 1
    _add_real_time(history, edges, next_number)
    for component in _components(edges):
        members = [by_number[number] for number in sorted(component) if number in by_number]
        shown = "\n  ".join(map(str, members[:8]))
        yield Anomaly("cycle", f"no order explains these {len(members)} transactions:\n  {shown}")


def _components(edges):
    """Strongly connected components with more than one node (Tarjan, "Depth-first search and linear graph algorithms"),
    without recursion."""
    index, low, on_stack, stack = {}, {}, set(), []
    for root in list(edges):
        if root in index:
            continue
        work = [(root, iter(edges.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(edges.get(successor, ()))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    if len(component) > 1:
                        yield component


# ---- Registers -----------------------------------------------------------------------------------------------------


def _registers(history, writers):
    clusters = collections.defaultdict(dict)  # key -> value -> transactions that wrote or found it
    for transaction in history:
        for operation in transaction.operations:
            if operation.kind == "replace" and transaction.outcome is not Outcome.FAILED:
                clusters[operation.key][operation.value] = (transaction, [])
    for transaction, look in _reads(history, "look"):
        values = set(look.found)
        if len(values) != 1:
            yield Anomaly("half read", f"{look.key} has cells of several writes: {transaction}")
            continue
        (value,) = values
        if value == 0:  # the initial value
            first = clusters[look.key].setdefault(0, (None, []))
            first[1].append(transaction)
        elif (look.key, value) not in writers:
            yield Anomaly("value from nowhere", f"{look.key} has {value}, which nobody wrote: {transaction}")
        elif value not in clusters[look.key]:
            yield Anomaly("dirty read", f"{look.key} has {value} of a failed transaction: {transaction}")
        else:
            clusters[look.key][value][1].append(transaction)
    for key, by_value in clusters.items():
        yield from _zone_conflicts(key, by_value)


@dataclasses.dataclass
class _Zone:
    """The span between the first end and the last beginning of the operations on one value. In a forward zone the first
    end comes first, and the register had the value during the whole span. Otherwise all operations overlap, and the
    register had the value at some moment of the span."""

    value: int
    low: float
    high: float
    forward: bool
    transactions: list


def _zone(value, writer, readers):
    members = readers if writer is None else [writer, *readers]
    first_end = min(t.end if t.outcome is Outcome.DONE else INFINITY for t in members)
    if writer is None:
        first_end = -INFINITY
    last_start = max(t.start for t in members)
    return _Zone(value, min(first_end, last_start), max(first_end, last_start), first_end < last_start, members)


def _zone_conflicts(key, by_value):
    zones = []
    for value, (writer, readers) in by_value.items():
        if writer is not None and any(t.end < writer.start for t in readers):
            yield Anomaly("read from the future", f"{key} had {value} before it was written: {writer}")
            continue
        if writer is not None and writer.outcome is Outcome.UNKNOWN and not readers:
            continue  # the write may have failed
        if writer is None and not readers:
            continue
        zones.append(_zone(value, writer, readers))
    forward = sorted((zone for zone in zones if zone.forward), key=lambda zone: zone.low)
    for before, after in zip(forward, forward[1:]):
        if after.low < before.high:
            yield _conflict(key, before, after)
    for zone in zones:
        if zone.forward:
            continue
        for other in forward:
            if other.low < zone.low and zone.high < other.high:
                yield _conflict(key, zone, other)


def _conflict(key, zone, other):
    shown = "\n  ".join(str(t) for t in [*zone.transactions[:4], *other.transactions[:4]])
    return Anomaly("stale or lost", f"{key} had {zone.value} and {other.value} at the same time:\n  {shown}")
