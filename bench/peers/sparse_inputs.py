"""Generates sparse matrices, graphs and a tensor of rank 3, with seeds, and files that eindb and its peers read.

Values are small whole numbers, so that sums of products are exact and results can be compared for equality.
"""

import os

import numpy as np
import scipy.sparse

BLOCK = 16
PATTERNS = ("uniform", "power-law", "banded", "block")
DENSITIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


def whole_numbers(generator, shape, dtype="float64"):
    return generator.integers(1, 5, shape).astype(dtype)


def matrix_of(generator, keys, rows, columns):
    """A matrix with a value at each of the keys, which are numbers of cells in row-major order, each once."""
    i, j = np.divmod(keys, columns)
    return scipy.sparse.csr_matrix((whole_numbers(generator, len(keys)), (i, j)), shape=(rows, columns))


def distinct(draw, count, tries=8):
    """At most `count` distinct keys of those that `draw` gives."""
    keys = np.unique(draw(count))
    for _ in range(tries):
        if len(keys) >= count:
            break
        keys = np.union1d(keys, draw(count))
    return keys


def subset(generator, keys, count):
    return keys if len(keys) <= count else np.sort(generator.permutation(keys)[:count])


def zipf_indices(generator, extent, count, exponent=0.5):
    """Indices of which the n-th most frequent one is drawn in proportion to n ** -exponent."""
    ranks = np.floor(extent * generator.random(count) ** (1 / (1 - exponent))).astype(np.int64)
    return np.random.default_rng(extent).permutation(extent)[ranks]


def square(pattern, size, density):
    """A matrix of size x size with that share of cells; a few less where the pattern has no more."""
    generator = np.random.default_rng([PATTERNS.index(pattern), size, round(1 / density)])
    count = round(density * size * size)
    if pattern == "uniform":
        keys = distinct(lambda n: generator.integers(0, size * size, n), count)
    elif pattern == "power-law":
        keys = distinct(lambda n: zipf_indices(generator, size, n) * size + zipf_indices(generator, size, n), count)
    elif pattern == "banded":
        width = max(1, round(density * size)) | 1
        rows = np.repeat(np.arange(size), width)
        columns = rows + np.tile(np.arange(width) - width // 2, size)
        inside = (columns >= 0) & (columns < size)
        keys = rows[inside] * size + columns[inside]
    else:
        grid = size // BLOCK
        blocks = generator.permutation(grid * grid)[: max(1, count // BLOCK**2)]
        corner = blocks // grid * BLOCK * size + blocks % grid * BLOCK
        within = np.arange(BLOCK)[:, None] * size + np.arange(BLOCK)
        keys = np.sort((corner[:, None, None] + within).ravel())
    return matrix_of(generator, subset(generator, keys, count), size, size)


def rectangle(rows, columns, cells):
    generator = np.random.default_rng([rows, columns, cells])
    keys = distinct(lambda n: generator.integers(0, rows * columns, n), cells)
    return matrix_of(generator, subset(generator, keys, cells), rows, columns)


def graph(kind, edges):
    """The edges (i, j), i < j, of a graph of that kind, as a matrix with a 1 for each."""
    generator = np.random.default_rng([3, edges])
    neighbours = 10
    vertices = edges // neighbours if kind == "lattice" else edges // 5
    if kind == "lattice":
        ends = np.repeat(np.arange(vertices), neighbours)
        others = (ends + np.tile(np.arange(1, neighbours + 1), vertices)) % vertices
        keys = np.minimum(ends, others) * vertices + np.maximum(ends, others)
    else:

        def draw(count):
            pairs = [
                zipf_indices(generator, vertices, count) if kind == "power-law" else generator.integers(0, vertices, count)
                for _ in range(2)
            ]
            low, high = np.minimum(*pairs), np.maximum(*pairs)
            return (low * vertices + high)[low < high]

        keys = subset(generator, distinct(draw, edges), edges)
    found = matrix_of(generator, keys, vertices, vertices)
    found.data[:] = 1
    return found


class Tensor:
    """Cells of a tensor, by their keys, one row each."""

    def __init__(self, shape, cells):
        generator = np.random.default_rng([*shape, cells])
        drawn = np.stack([generator.integers(0, extent, cells) for extent in shape], axis=1)
        self.shape = shape
        self.keys = np.unique(drawn, axis=0)
        self.values = whole_numbers(generator, len(self.keys))


class Inputs:
    """Tensors by name, as files in a folder and as tensors of eindb."""

    def __init__(self, eindb, folder):
        self._eindb = eindb
        self._folder = folder
        self.files = {}

    def put(self, name, value):
        path = os.path.join(self._folder, f"sparse_{name}")
        options = ""
        if isinstance(value, Tensor):
            np.savez(path + ".arrays.npz", keys=value.keys, values=value.values, shape=value.shape)
            self.files[name] = path + ".arrays.npz"
            imported = path + ".csv"
            np.savetxt(imported, np.column_stack([value.keys, value.values]), "%d", ",")
            extents = ",".join(map(str, value.shape))
            options = f"(FORMAT coo, HEADER off, SHAPE '{extents}')"
        elif scipy.sparse.issparse(value):
            self.files[name] = imported = path + ".npz"
            scipy.sparse.save_npz(imported, value, compressed=False)
        else:
            self.files[name] = imported = path + ".npy"
            np.save(imported, value)
        self._eindb.execute(f"DROP TENSOR IF EXISTS {name}")
        self._eindb.execute(f"COPY {name} FROM '{imported}' {options}")

    def drop_all(self):
        for name, path in self.files.items():
            self._eindb.drop(name)
            os.remove(path)
        self.files = {}
