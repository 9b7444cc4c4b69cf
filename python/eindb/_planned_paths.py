"""The order of contraction that eindb's planner finds, read off its plan."""

import json
import os
import re
import threading

import numpy

from . import _eindb

# A name of an operand or of an intermediate result in what EXPLAIN says of a vertex.
_NAME = re.compile(r"\b(?:operand_\d+|result(?:\.\d+)*)")
# What changes vertices after the order is found.
_PASSES = "common_subexpressions,inlining,common_parts,repeated_joins,elementwise_fusion,chain_fusion"
_ALGORITHMS = {"greedy": "greedy", "optimal": "optimal", "eager": "greedy", "opportunistic": "greedy",
               "dp": "optimal", "dynamic-programming": "optimal", "branch-all": "optimal", "auto-hq": "anneal"}  # fmt: skip


class _Planner:
    """A database that plans, and computes nothing. Any thread may use it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._connection = None

    def plan(self, query, arrays):
        with self._lock:
            if self._connection is None:
                self._connection = _eindb.Connection(":memory:", False)
                self._connection.execute(f"SET disabled_passes = '{_PASSES}'", (), {})
            rows = self._connection.execute(f"EXPLAIN (FORMAT json) {query}", (), arrays).fetch(1 << 30)
        return json.loads("\n".join(row[0] for row in rows))


_planner = _Planner()


def _begin_anew():
    global _planner
    _left.append(_planner)  # the parent's: to close it is the parent's, too
    _planner = _Planner()


_left = []
os.register_at_fork(after_in_child=_begin_anew)


def planned_path(terms, output, shapes, algorithm):
    """A list of tuples of positions for terms of labels, which are numbers, and operands of these shapes."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    spelt = ["[" + ",".join(f"l{label}" for label in term) + "]" for term in (*terms, output)]
    names = [f"operand_{n}" for n in range(len(terms))]
    # Arrays of these shapes that take no memory: only the shapes matter.
    arrays = {name: numpy.broadcast_to(0.0, shape) for name, shape in zip(names, shapes)}
    known = _ALGORITHMS.get(algorithm, "anneal" if algorithm.startswith("random-greedy") else "auto")
    definition = f"EINSUM '{','.join(spelt[:-1])}->{spelt[-1]}' ({', '.join(names)}) USING PATH '{known}'"
    return _path(_planner.plan(definition, arrays)["vertices"], len(terms))


def _path(vertices, count):
    """The path that takes the operands as the vertices do, of which those of one input only sum it or turn it."""
    names = {f"operand_{n}": n for n in range(count)}
    left = list(range(count))
    path = []
    for number, vertex in enumerate(vertices):
        head, _, body = vertex["einsum"].partition(" = ")
        inputs = sorted({names[name] for name in _NAME.findall(body)})
        made = inputs[0]
        if len(inputs) > 1:
            path.append(tuple(sorted(left.index(name) for name in inputs)))
            made = count + number
            left = [name for name in left if name not in inputs] + [made]
        names[_NAME.match(head)[0]] = made
    return path
