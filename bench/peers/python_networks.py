"""Thirty tensor networks, as subscripts and shapes of operands, all of them from fixed seeds."""

import itertools
import random
import string

LETTERS = string.ascii_letters


def written(terms, output, extents):
    """Terms are lists of labels, numbered from 0; extents is one number, or a function of the label."""
    extent_of = extents if callable(extents) else lambda label: extents
    text = ",".join("".join(LETTERS[label] for label in term) for term in terms)
    return f"{text}->{''.join(LETTERS[label] for label in output)}", [tuple(map(extent_of, term)) for term in terms]


def chain(operands, extent):
    return written([[n, n + 1] for n in range(operands)], [0, operands], extent)


def bilinear(extent):
    return written([[0, 1], [1, 2], [0, 2]], [0], extent)


def state_overlap(sites, bond, physical=2):
    """The inner product of two matrix-product states."""
    upper, lower, sites_at = 0, sites - 1, 2 * (sites - 1)
    terms = []
    for first in (upper, lower):
        for n in range(sites):
            bonds = ([first + n - 1] if n > 0 else []) + ([first + n] if n < sites - 1 else [])
            terms.append([*bonds, sites_at + n])
    return written(terms, [], lambda label: physical if label >= sites_at else bond)


def operator_expectation(sites, bond, operator_bond):
    """A matrix-product operator between two matrix-product states."""
    numbers = {}

    def label(*name):
        return numbers.setdefault(name, len(numbers))

    terms = []
    for n in range(sites):
        for part, kind in (("ket", "up"), ("operator", None), ("bra", "down")):
            bonds = ([label(part, n)] if n > 0 else []) + ([label(part, n + 1)] if n < sites - 1 else [])
            sides = [label("up", n), label("down", n)] if kind is None else [label(kind, n)]
            terms.append(bonds + sides)
    kinds = {number: name[0] for name, number in numbers.items()}
    extents = {"ket": bond, "bra": bond, "operator": operator_bond, "up": 2, "down": 2}
    return written(terms, [], lambda number: extents[kinds[number]])


def lattice(rows, columns, bond):
    """A square lattice without open labels."""
    numbers = {}
    edges = [((r, c), (r, c + 1)) for r in range(rows) for c in range(columns - 1)]
    edges += [((r, c), (r + 1, c)) for r in range(rows - 1) for c in range(columns)]
    for edge in edges:
        numbers[edge] = len(numbers)
    cells = itertools.product(range(rows), range(columns))
    return written([[numbers[edge] for edge in edges if cell in edge] for cell in cells], [], bond)


def random_network(operands, degree, extents, outputs, seed):
    """A connected graph of `operands` vertices and about `degree` edges at each, with `outputs` open labels."""
    rng = random.Random(seed)
    edges = [(n, rng.randrange(n)) for n in range(1, operands)]
    while len(edges) < operands * degree // 2:
        edges.append(tuple(rng.sample(range(operands), 2)))
    terms = [[label for label, edge in enumerate(edges) if n in edge] for n in range(operands)]
    opened = list(range(len(edges), len(edges) + outputs))
    for label in opened:
        terms[rng.randrange(operands)].append(label)
    sizes = [rng.randint(*extents) for _ in range(len(edges) + outputs)]
    rng.shuffle(opened)
    return written(terms, opened, lambda label: sizes[label])


def hyper_network(operands, labels, extent, seed):
    """Labels that three and more operands share, as those of a formula's clauses."""
    rng = random.Random(seed)
    return written([rng.sample(range(labels), 3) for _ in range(operands)], [], extent)


def coupled_clusters(occupied, virtual):
    """A term of the equations of coupled clusters: four tensors of rank 2 and 4."""
    i, j, k, m, a, b, c, d = range(8)
    terms = [[k, m, c, d], [c, i], [d, j], [a, k], [b, m]]
    return written(terms, [a, b, i, j], lambda label: occupied if label < 4 else virtual)


def networks():
    """(name, subscripts, shapes of operands) of each."""
    for extent in (2, 32, 128):
        yield f"chain of 3, {extent}", *chain(3, extent)
        yield f"chain of 6, {extent}", *chain(6, extent)
    for extent in (8, 256):
        yield f"chain of 12, {extent}", *chain(12, extent)
    for extent in (8, 128):
        yield f"bilinear, {extent}", *bilinear(extent)
    for sites, bond in ((5, 4), (8, 16), (12, 32)):
        yield f"overlap of {sites} sites, {bond}", *state_overlap(sites, bond)
    for sites, bond in ((4, 8), (8, 32)):
        yield f"expectation of {sites} sites, {bond}", *operator_expectation(sites, bond, 4)
    for rows, columns, bond in ((3, 3, 4), (4, 4, 3), (4, 5, 2), (5, 5, 2)):
        yield f"lattice of {rows} x {columns}, {bond}", *lattice(rows, columns, bond)
    for operands, degree, extents, outputs in (
        (4, 3, (2, 6), 1),
        (6, 3, (2, 6), 2),
        (8, 3, (2, 8), 2),
        (10, 3, (2, 6), 0),
        (12, 3, (2, 5), 2),
        (16, 3, (2, 4), 0),
        (20, 3, (2, 4), 2),
    ):
        name = f"random network of {operands}, {outputs} open"
        yield name, *random_network(operands, degree, extents, outputs, operands)
    for operands, labels, extent in ((8, 10, 2), (16, 18, 2)):
        yield f"hyper-network of {operands}", *hyper_network(operands, labels, extent, operands)
    for occupied, virtual in ((4, 8), (8, 24)):
        yield f"coupled clusters, {occupied} and {virtual}", *coupled_clusters(occupied, virtual)
