"""Makes the inputs of the examples with seeds, at a small and a large size, and writes the files that the scripts read."""

import os
import re

import numpy as np

SIZES = {
    "pagerank": {"small": {"pages": 500, "links": 3_000}, "large": {"pages": 50_000, "links": 500_000}},
    "paths": {"small": {"places": 300, "roads": 900}, "large": {"places": 4_000, "roads": 12_000}},
    "triangles": {"small": {"people": 200, "friendships": 1_500}, "large": {"people": 20_000, "friendships": 200_000}},
    "gcn": {"small": {"papers": 120, "communities": 3}, "large": {"papers": 5_000, "communities": 8}},
    "graphsage": {"small": {"papers": 120, "communities": 3}, "large": {"papers": 5_000, "communities": 8}},
    "ratings": {"small": {"users": 60, "films": 40, "share": 0.3}, "large": {"users": 4_000, "films": 2_000, "share": 0.02}},
    "cp": {"small": {"extents": (30, 40, 50)}, "large": {"extents": (200, 250, 300)}},
    "models": {"small": {"variables": 16}, "large": {"variables": 22}},
    "attention": {"small": {"blocks": 8, "block": 4, "features": 8}, "large": {"blocks": 64, "block": 32, "features": 64}},
    "search": {"small": {"documents": 60, "words": 300}, "large": {"documents": 5_000, "words": 20_000}},
}


class Cells:
    """A tensor with few cells: their keys, one row each, in order and each once, and their values."""

    def __init__(self, shape, keys, values):
        self.shape, self.keys, self.values = tuple(shape), keys, values

    def dense(self):
        array = np.zeros(self.shape)
        array[tuple(self.keys.T)] = self.values
        return array

    def write(self, path):
        """As Matrix Market, FROSTT or a list with commas, by the ending of the path."""
        keys = self.keys + (0 if path.endswith(".csv") else 1)
        with open(path, "w", encoding="utf-8") as file:
            if path.endswith(".mtx"):
                file.write("%%MatrixMarket matrix coordinate real general\n")
                file.write(" ".join(map(str, (*self.shape, len(keys)))) + "\n")
            elif path.endswith(".csv"):
                file.write(",".join("ijkl"[: len(self.shape)]) + ",val\n")
            separator = "," if path.endswith(".csv") else " "
            for key, value in zip(keys.tolist(), self.values.tolist()):
                file.write(separator.join(map(str, (*key, value))) + "\n")


def cells_of(shape, numbers, values):
    """Cells by their numbers in row-major order, each once."""
    return Cells(shape, np.stack(np.unravel_index(numbers, shape), axis=1), values)


def pairs(generator, extent, count, draw=None):
    """About `count` different pairs (i, j) of numbers below `extent`, i < j."""
    draw = draw or (lambda: generator.integers(0, extent, 2 * count))
    ends, others = draw(), draw()
    low, high = np.minimum(ends, others), np.maximum(ends, others)
    keys = np.unique((low * extent + high)[low < high])
    return np.sort(generator.permutation(keys)[:count])


def both_directions(extent, keys, values):
    i, j = np.divmod(keys, extent)
    numbers = np.concatenate([i * extent + j, j * extent + i])
    order = np.argsort(numbers)
    return cells_of((extent, extent), numbers[order], np.concatenate([values, values])[order])


def skewed(generator, extent, count):
    """Numbers below `extent`, of which the n-th most frequent one is drawn in proportion to 1 / sqrt(n)."""
    return np.floor(extent * generator.random(count) ** 2).astype(np.int64)


def pagerank(generator, pages, links):
    """links[i,j] is 1 where page i links to page j. Some pages link nowhere."""
    sources = generator.integers(0, pages - pages // 20, links)
    keys = np.unique(sources * pages + skewed(generator, pages, links))
    return {"links.mtx": cells_of((pages, pages), keys, np.ones(len(keys)))}


def paths(generator, places, roads):
    """Roads with lengths in whole numbers, in both directions. The last place has none."""
    keys = pairs(generator, places - 1, roads)
    i, j = np.divmod(keys, places - 1)
    return {"roads.mtx": both_directions(places, i * places + j, generator.integers(1, 10, len(keys)).astype(float))}


def triangles(generator, people, friendships):
    keys = pairs(generator, people, friendships, lambda: skewed(generator, people, 2 * friendships))
    return {"friends.mtx": both_directions(people, keys, np.ones(len(keys)))}


def community_graph(generator, papers, communities):
    """Papers of a community cite each other more often than others; words of each community are more frequent in its papers.
    A fifth of the papers has a known community, the others are to be found out."""
    community = generator.integers(0, communities, papers)
    keys = pairs(generator, papers, 8 * papers)
    i, j = np.divmod(keys, papers)
    keys = keys[(community[i] == community[j]) | (generator.random(len(keys)) < 0.1)]
    words = 16 * communities
    chance = np.where(np.arange(words) % communities == community[:, None], 0.12, 0.04)
    has = np.flatnonzero(generator.random((papers, words)) < chance)
    known = np.flatnonzero(generator.random(papers) < 0.2)
    share = 1 / np.sqrt(words)
    return {
        "cites.mtx": both_directions(papers, keys, np.ones(len(keys))),
        "words.mtx": cells_of((papers, words), has, np.ones(len(has))),
        "known.mtx": cells_of((papers, communities), known * communities + community[known], np.ones(len(known))),
        "community.npy": community,
        "W1.npy": generator.standard_normal((words, 16)) * share,
        "W2.npy": generator.standard_normal((16, communities)) * share,
        "V1.npy": generator.standard_normal((words, 16)) * share,
        "V2.npy": generator.standard_normal((16, communities)) * share,
    }


def ratings(generator, users, films, share):
    """Products of positive factors of rank 3, with some noise, where a user has seen a film."""
    seen = np.flatnonzero(generator.random((users, films)) < share)
    taste, kind = generator.random((users, 3)), generator.random((films, 3))
    values = np.einsum("nr,nr->n", taste[seen // films], kind[seen % films]) + 0.05 * generator.standard_normal(len(seen))
    return {
        "ratings.mtx": cells_of((users, films), seen, np.round(1 + 2 * values, 2)),
        "films.npy": generator.random((films, 4)),
    }


def cp(generator, extents):
    """A sum of 4 outer products of vectors of which a fifth is not zero: a tensor of few cells and of rank 4."""
    factors = [np.where(generator.random((extent, 4)) < 0.2, 0.5 + generator.random((extent, 4)), 0) for extent in extents]
    keys, values = [], []
    for r in range(4):
        where = [np.flatnonzero(factor[:, r]) for factor in factors]
        grid = np.meshgrid(*where, indexing="ij")
        keys.append(np.ravel_multi_index([axis.ravel() for axis in grid], extents))
        values.append(np.einsum("i,j,k->ijk", *[f[w, r] for f, w in zip(factors, where)]).ravel())
    keys, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    cells = cells_of(extents, keys, np.bincount(inverse, np.concatenate(values)))
    cells.shape = tuple(cells.keys.max(axis=0) + 1)  # a list of cells does not tell of empty indices behind the last one
    starts = {f"start{n}.npy": generator.random((cells.shape[n], 4)) for n in (1, 2)}
    return {"visits.tns": cells, **starts}


def attention(generator, blocks, block, features):
    """Blocks of a sequence look at themselves, at the one before, at the first one, and at one at random."""
    a = np.arange(blocks)
    looks = np.concatenate([a * blocks + b for b in (a, np.maximum(a - 1, 0), 0 * a, generator.integers(0, a + 1))])
    looks = np.unique(looks)
    arrays = {name + ".npy": generator.standard_normal((blocks, block, features)) for name in "QKV"}
    return {"looks.mtx": cells_of((blocks, blocks), looks, np.ones(len(looks))), **arrays}


def models(generator, variables):
    """Clauses of three literals, each a variable's number from 1, negative where it is negated, as in DIMACS files. Variables
    of a clause are near each other."""
    clauses = []
    for first in range(variables - 3):
        chosen = first + np.sort(generator.permutation(4)[:3])
        clauses.append((chosen + 1) * generator.choice([-1, 1], 3))
    return {"formula.npy": np.array(clauses)}


def with_clauses(script, clauses):
    """The script of model counting with these clauses in the place of its own."""
    terms = []
    for clause in clauses:
        literals = sorted(clause, key=lambda literal: literal < 0)
        signs = "".join("N" if literal < 0 else "P" for literal in literals)
        terms.append(f"{signs}[{','.join(f'v{abs(literal)}' for literal in literals)}]")
    lines = [" * ".join(terms[n : n + 5]) for n in range(0, len(terms), 5)]
    return re.sub(r"SUM\([^()]*\)", "SUM(" + "\n  * ".join(lines) + ")", script)


def search(generator, documents, words):
    """words.csv has a row (document, word) for each word of a text; frequent words are in most of them."""
    syllables = [first + second for first in "bdfgklmnprst" for second in "aeiou"]
    names = ["".join(syllables[n // 60**p % 60] for p in range(3)) for n in generator.permutation(60**3)[:words]]
    rows = []
    for document in range(documents):
        rows += [(document, names[word]) for word in skewed(generator, words, int(generator.integers(20, 80)))]
    return {"words.csv": rows, "query.csv": [(names[word],) for word in (3, words // 20, words // 5)]}


MAKERS = {
    "pagerank": pagerank, "paths": paths, "triangles": triangles, "gcn": community_graph, "graphsage": community_graph,
    "ratings": ratings, "cp": cp, "models": models, "attention": attention, "search": search,
}  # fmt: skip


def make(name, size):
    """The inputs of an example by the names of their files."""
    return MAKERS[name](np.random.default_rng(1), **SIZES[name][size])


def write(folder, files):
    for name, value in files.items():
        path = os.path.join(folder, name)
        if isinstance(value, Cells):
            value.write(path)
        elif isinstance(value, np.ndarray):
            np.save(path, value)
        else:
            header = ("document", "word")[-len(value[0]) :]
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(",".join(map(str, row)) + "\n" for row in [header, *value])
