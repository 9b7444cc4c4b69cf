#!/usr/bin/python3
"""Compares random updates of parts of tensors with NumPy: numbers, ranges, labels, affine and gathered indices, set,
added and multiplied; whole and cut into tiles, in a transaction, with little memory, and for tensors at three workers.

Tensors have small integers, so that results are exact.
"""
import random
import sys

import numpy as np

from modes import compare, partitioned

CASES = 200
SHAPES = {"A": (5, 4, 6), "B": (9,), "C": (7, 5), "D": (3, 3, 2, 4)}
PARTITIONS = {"A": (2, 1, 3), "B": (4,), "C": (3, 2), "D": (1, 3, 2, 2)}
INDICES = {"I": (3,), "J": (2, 3)}
PARTITIONED = partitioned(PARTITIONS)
MODES = {
    "whole": "",
    "tiles": PARTITIONED + "SET parallelism = 16;",
    "transaction": PARTITIONED + "BEGIN; SET parallelism = 8;",
    "little memory": PARTITIONED + "SET parallelism = 8; SET memory_limit = '2MiB'; SET tile_bytes = 4096;",
    "workers": PARTITIONED + "".join(f"ALTER TENSOR {name} REPLICAS 2;" for name in SHAPES),
}


class Update:
    """UPDATE TENSOR of one region: its text, and what it does to an array."""

    def __init__(self, rng, name):
        self.name = name
        self.labels = {}   # label -> extent; ranges are r1 and r2
        self.terms = []
        self.indices = []  # functions of a dictionary of index arrays
        self.is_computed = False
        kinds = ["label", "integer", "range", "affine", "gather"]
        for d, extent in enumerate(SHAPES[name]):
            self.add_term(rng, rng.choice(kinds), d, extent)
        if all(term.isalpha() for term in self.terms):
            del self.labels[self.terms[0]]
            self.terms[0], self.indices[0] = "0", lambda at: 0
        self.op = rng.choice(["=", "=", "+=", "-="] + ([] if self.is_computed else ["*="]))

    def add_term(self, rng, kind, d, extent):
        ranges = sum(label.startswith("r") for label in self.labels)
        if kind == "label":
            label = "ijkl"[d]
            self.labels[label] = extent
            self.terms.append(label)
            self.indices.append(lambda at: at[label])
        elif kind == "range" and ranges < 2:
            label = f"r{ranges + 1}"
            step = rng.choice([1, 1, 2, -1])
            begin = rng.randrange(extent)
            end = rng.randrange(begin + 1, extent + 1) if step > 0 else rng.randrange(-1, begin)
            self.labels[label] = len(range(begin, end, step))
            self.terms.append(f"{begin}:{'' if end < 0 else end}" + (f":{step}" if step != 1 else ""))
            self.indices.append(lambda at: begin + step * at[label])
        elif kind == "affine" and extent > 2:
            label = "mnop"[d]
            offset = rng.randrange(extent)
            sign = rng.choice([1, -1])
            self.labels[label] = extent - offset if sign > 0 else offset + 1
            self.terms.append(f"{label}+{offset}" if sign > 0 else f"{offset}-{label}")
            self.indices.append(lambda at: offset + sign * at[label])
            self.is_computed = True
        elif kind == "gather":
            name = rng.choice(list(INDICES))
            own = ["q", "s"][:len(INDICES[name])] if name == "J" else ["t"]
            for label, size in zip(own, INDICES[name]):
                self.labels[label] = size
            shift = rng.randrange(extent)
            self.terms.append(f"({name}[{','.join(own)}] + {shift}) % {extent}")
            self.indices.append(lambda at: (VALUES[name][tuple(at[label] for label in own)] + shift) % extent)
            self.is_computed = True
        else:
            index = rng.randrange(extent)
            self.terms.append(str(index - extent if rng.random() < 0.3 else index))
            self.indices.append(lambda at: index)

    def apply(self, array):
        """The text, and the array after it; None if two values meet in one cell."""
        at = dict(zip(self.labels, np.indices(list(self.labels.values()), dtype=int)))
        value = 1 + sum((n + 2) * index for n, (label, index) in enumerate(at.items()) if not label.startswith("r"))
        text = " + ".join(["1"] + [f"{n + 2}*{label}" for n, label in enumerate(at) if not label.startswith("r")])
        ranges = [label for label in at if label.startswith("r")]
        if ranges:
            value = value + VALUES["R"][tuple(at[label] for label in ranges) + (0,) * (2 - len(ranges))]
            text += f" + R[{', '.join([f'0:{self.labels[label]}' for label in ranges] + ['0'] * (2 - len(ranges)))}]"
        shape = list(self.labels.values())
        value = np.broadcast_to(value, shape)
        places = tuple(np.broadcast_to(index(at), shape) for index in self.indices)
        distinct = len(set(zip(*(place.ravel().tolist() for place in places)))) == value.size
        after = array.copy()
        if self.op == "=":
            if not distinct:
                return None, None
            after[places] = value
        elif self.op == "*=":
            after[places] *= value
        else:
            np.add.at(after, places, value if self.op == "+=" else -value)
        return f"UPDATE TENSOR {self.name}[{', '.join(self.terms)}] {self.op} {text}", after % 1001


def cases(rng, count):
    arrays = {name: VALUES[name] for name in SHAPES}
    found = []
    while len(found) < count:
        update = Update(rng, rng.choice(list(SHAPES)))
        text, after = update.apply(arrays[update.name])
        if text is None:
            continue
        arrays[update.name] = after
        own = ",".join("ijkl"[:after.ndim])
        found.append((update.name, f"{text}; UPDATE TENSOR {update.name}[{own}] = {update.name}[{own}] % 1001", after))
    return found


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    wanted = cases(random.Random(20261127), count)
    return compare(MODES, VALUES, [(f"{text}; COPY {name} TO @", expected) for name, text, expected in wanted])


GENERATOR = np.random.default_rng(11)
VALUES = {name: GENERATOR.integers(-4, 5, shape).astype(float) for name, shape in SHAPES.items()}
VALUES["R"] = GENERATOR.integers(-9, 10, (9, 9)).astype(float)
VALUES.update({name: GENERATOR.integers(0, 9, shape) for name, shape in INDICES.items()})

if __name__ == "__main__":
    sys.exit(main())
