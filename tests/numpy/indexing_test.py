#!/usr/bin/python3
"""Compares random references with ranges, computed indices, gathers and paddings, and reshapes, with NumPy: their values, sums of
products of them, and their gradients: whole and cut into tiles, with little memory, without the optimiser's passes, and
on three workers.

Tensors have small integers, so that results are exact. Labels have the extents of the head, and what a reference reads
is found cell by cell.
"""
import random
import sys

import numpy as np

from modes import compare, partitioned, query_modes

CASES = 300
SHAPES = {"A": (5, 4, 6), "B": (9,), "C": (7, 5), "D": (3, 3, 2, 4)}
PARTITIONS = {"A": (2, 1, 3), "B": (4,), "C": (3, 2), "D": (1, 3, 2, 2)}
INDICES = {"I": (3,), "J": (2, 3)}
PASSES = "inlining,elementwise_fusion,chain_fusion,common_subexpressions,early_summation"


class Reference:
    """A reference, the arrays of indices that it reads, and its labels with their extents."""

    def __init__(self, rng, name, labels, ranges):
        self.name = name
        self.labels = labels  # label -> extent, shared by a statement
        self.own = []
        shape = SHAPES[name]
        kinds = ["label", "integer", "range", "affine", "affine", "two", "gather"]
        self.terms = []
        self.indices = []  # functions of a dictionary of index arrays
        self.padding = rng.choice([None, None, "0", "7", "-2.5", "EDGE", "REFLECT", "WRAP"])
        self.ranges = 0
        for d, extent in enumerate(shape):
            self.add_term(rng, rng.choice(kinds), d, extent, ranges)

    def use(self, label):
        if label not in self.own:
            self.own.append(label)
        return self.labels[label]

    def some_label(self, rng):
        return rng.choice([label for label in self.labels if not label.startswith("r")])

    def add_term(self, rng, kind, d, extent, ranges):
        if kind == "label":
            fitting = [label for label, size in self.labels.items() if size == extent and not label.startswith("r")]
            kind = "affine" if not fitting else kind
            if fitting:
                label = rng.choice(fitting)
                self.use(label)
                self.terms.append(label)
                self.indices.append(lambda at, label=label: at[label])
                return
        if kind == "range" and self.ranges < 2:
            # All first ranges of a statement have one length, and all second ones.
            length = ranges[self.ranges]
            step = rng.choice([1, 1, 2, -1])
            span = (length - 1) * abs(step) + 1
            if span <= extent:
                begin = rng.randrange(0, extent - span + 1) + (span - 1 if step < 0 else 0)
                end = begin + length * step
                text_end = "" if end < 0 or end >= extent else str(end if rng.random() < 0.7 else end - extent)
                text = f"{begin}:{text_end}" + (f":{step}" if step != 1 or rng.random() < 0.2 else "")
                if len(range(*slice(begin, int(text_end) if text_end else None, step).indices(extent))) == length:
                    label = f"r{self.ranges + 1}"
                    self.ranges += 1
                    self.use(label)
                    self.terms.append(text)
                    self.indices.append(lambda at, label=label, b=begin, s=step: b + s * at[label])
                    return
        if kind == "integer":
            index = rng.randrange(-extent, extent)
            self.terms.append(str(index))
            self.indices.append(lambda at, index=index % extent: np.int64(index))
            return
        if kind == "gather":
            name = rng.choice(list(INDICES))
            chosen = [rng.choice([label for label in self.labels
                                  if self.labels[label] <= size and not label.startswith("r")] or ["x"])
                      for size in INDICES[name]]
            if all(self.labels[label] == size for label, size in zip(chosen, INDICES[name])):
                for label in chosen:
                    self.use(label)
                # Values of index tensors are from -2 to 8: what lies outside needs a padding.
                values = VALUES[name] if self.padding else VALUES[name] % extent
                text = f"{name}[{','.join(chosen)}]"
                self.terms.append(text if self.padding else f"{text} % {extent}")
                self.indices.append(lambda at, values=values, chosen=chosen: values[tuple(at[label] for label in chosen)])
                return
        self.add_affine(rng, 2 if kind == "two" else 1, extent)

    def add_affine(self, rng, count, extent):
        labels = [self.some_label(rng) for _ in range(count)]
        factors = [rng.choice([1, 1, 2, -1]) for _ in labels]
        ends = [(self.labels[label] - 1) * factor for label, factor in zip(labels, factors)]
        least = sum(min(end, 0) for end in ends)
        most = sum(max(end, 0) for end in ends)
        if self.padding:
            offset = rng.randrange(-3, extent + 2)
        elif most - least >= extent:
            return self.add_term(rng, "integer", 0, extent, [])
        else:
            offset = rng.randrange(-least, extent - most)
        text = ""
        for label, factor in zip(labels, factors):
            self.use(label)
            sign = "-" if factor < 0 else "+" if text else ""
            text += sign + (f"{abs(factor)}*{label}" if abs(factor) > 1 else label)
        text += f"+{offset}" if offset > 0 else f"{offset}" if offset < 0 else "+0"
        self.terms.append(text)
        self.indices.append(lambda at: sum(factor * at[label] for label, factor in zip(labels, factors)) + offset)
        return None

    def text(self):
        return f"{self.name}[{', '.join(self.terms)}{' PAD ' + self.padding if self.padding else ''}]"

    def places(self, labels):
        """For every cell over `labels`: the indices that are read, and whether they are inside."""
        grid = dict(zip(labels, np.indices([self.labels[label] for label in labels])))
        shape = tuple(self.labels[label] for label in labels)
        inside = np.ones(shape, bool)
        places = []
        for index, extent in zip(self.indices, SHAPES[self.name]):
            at = np.broadcast_to(index(grid), shape)
            if self.padding == "EDGE":
                at = np.clip(at, 0, extent - 1)
            elif self.padding == "WRAP":
                at = at % extent
            elif self.padding == "REFLECT":
                period = max(2 * (extent - 1), 1)
                at = np.minimum(at % period, period - at % period) if extent > 1 else at * 0
            inside &= (at >= 0) & (at < extent)
            places.append(np.clip(at, 0, extent - 1))
        return tuple(places), inside

    def values(self, labels):
        places, inside = self.places(labels)
        outside = float(self.padding) if self.padding and self.padding[-1].isdigit() else 0.0
        return np.where(inside, VALUES[self.name][places], outside)


def random_case(rng):
    labels = {"a": 2, "b": 3, "c": 4, "x": 5, "r1": rng.choice([1, 2]), "r2": rng.choice([1, 2])}
    ranges = [labels["r1"], labels["r2"]]
    references = [Reference(rng, rng.choice(list(SHAPES)), labels, ranges) for _ in range(rng.choice([1, 1, 2]))]
    used = [label for label in labels if any(label in reference.own for reference in references)]
    used_ranges = [label for label in ("r1", "r2") if label in used]
    others = [label for label in used if not label.startswith("r")]
    rng.shuffle(others)
    kept = others[:rng.randrange(0, len(others) + 1)] if rng.random() < 0.6 else others
    summed = [label for label in others if label not in kept]
    head = used_ranges + kept
    operands = [reference.values(used) for reference in references]
    joined = operands[0] if len(operands) == 1 else operands[0] * operands[1]
    expected = np.einsum(joined, list(range(len(used))), [used.index(label) for label in head])
    body = " * ".join(reference.text() for reference in references)
    if summed:
        body = f"SUM[{', '.join(f'{label} {labels[label]}' for label in summed)}]({body})"
    text = f"EINSUM Z[{', '.join(f'{label} {labels[label]}' for label in head)}] = {body}"
    return text, expected, references, used, labels


def gradient_case(rng):
    """The derivative of SUM of a reference times weights of its cells, by the tensor that it reads."""
    while True:
        labels = {"a": 2, "b": 3, "c": 4, "x": 5}
        reference = Reference(rng, rng.choice(list(SHAPES)), labels, [99, 99])
        if reference.own and not any(":" in term for term in reference.terms):
            break
    used = reference.own
    weights = sum((n + 2) * index for n, index in enumerate(np.indices([labels[label] for label in used])))
    places, inside = reference.places(used)
    expected = np.zeros(SHAPES[reference.name])
    np.add.at(expected, places, np.where(inside, weights, 0))
    factor = " + ".join(f"{n + 2}*{label}" for n, label in enumerate(used))
    over = ", ".join(f"{label} {labels[label]}" for label in used)
    own = [f"z{d}" for d in range(expected.ndim)]
    text = (f"WITH GRADIENT OF L[] = SUM[{over}](({factor}) * {reference.text()}) WITH RESPECT TO "
            f"({reference.name} AS G) EINSUM Z[{','.join(own)}] = G[{','.join(own)}]")
    return text, expected


def factors(rng, extent):
    """Extents whose product is `extent`."""
    divisors = [d for d in range(1, extent + 1) if extent % d == 0]
    first = rng.choice(divisors)
    return [first] + (factors(rng, extent // first) if first != extent and rng.random() < 0.7 else [extent // first])


def groups(rng, items):
    """The items in their order, in groups of one or more."""
    out = []
    while items:
        count = rng.choice([1, 2, 2, 3])
        out.append(items[:count])
        items = items[count:]
    return out


def bracket(group, extents):
    """A group of labels as an index; all but the first have their extents."""
    texts = [label if n == 0 and len(group) > 1 else f"{label} {extents[label]}" for n, label in enumerate(group)]
    return f"({', '.join(texts)})" if len(group) > 1 else group[0]


def reshape_case(rng):
    """Dimensions that become several labels, which change places and become dimensions of the result: the cells, or the
    derivative of their sum with weights."""
    name = rng.choice(list(SHAPES))
    extents = {}
    terms = []
    for d, extent in enumerate(SHAPES[name]):
        parts = factors(rng, extent) if rng.random() < 0.7 else [extent]
        group = [f"l{d}{n}" for n in range(len(parts))]
        extents.update(zip(group, parts))
        terms.append(bracket(group, extents))
    labels = list(extents)
    order = rng.sample(labels, len(labels))
    head = groups(rng, order)
    shape = [int(np.prod([extents[label] for label in group])) for group in head]
    places = np.arange(VALUES[name].size).reshape([extents[label] for label in labels])
    places = places.transpose([labels.index(label) for label in order]).reshape(shape)
    result = f"Y[{', '.join(f'({chr(44).join(group)})' if len(group) > 1 else group[0] for group in head)}]"
    reference = f"{name}[{', '.join(terms)}]"
    if rng.random() < 0.7:
        return f"EINSUM {result} = {reference}", VALUES[name].reshape(-1)[places]
    weights = sum((n + 2) * index for n, index in enumerate(np.indices(shape)))
    expected = np.zeros(VALUES[name].size)
    expected[places] = weights
    numbers = [f"n{d}" for d in range(len(shape))]
    factor = " + ".join(f"{n + 2}*{label}" for n, label in enumerate(numbers))
    own = ",".join(f"z{d}" for d in range(len(SHAPES[name])))
    return (f"WITH {result} = {reference}, GRADIENT OF L[] = SUM(({factor}) * Y[{','.join(numbers)}]) WITH RESPECT TO "
            f"({name} AS G) EINSUM Z[{own}] = G[{own}]", expected.reshape(SHAPES[name]))


def main():
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    rng = random.Random(20261126)
    wanted = [random_case(rng)[:2] for _ in range(cases)] + [gradient_case(rng) for _ in range(cases // 3)]
    wanted += [reshape_case(rng) for _ in range(cases // 3)]
    modes = query_modes(partitioned(PARTITIONS), PASSES)
    modes["cells"] = "SET tile_format = 'sparse';" + partitioned(PARTITIONS)
    return compare(modes, VALUES, [(f"COPY ({text}) TO @", expected) for text, expected in wanted])


GENERATOR = np.random.default_rng(7)
VALUES = {name: GENERATOR.integers(-4, 5, shape).astype(float) for name, shape in SHAPES.items()}
VALUES.update({name: GENERATOR.integers(-2, 9, shape) for name, shape in INDICES.items()})

if __name__ == "__main__":
    sys.exit(main())
