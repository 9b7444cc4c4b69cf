"""The usual tool for each example: SciPy, PyTorch or NumPy.

A peer is a function that takes the inputs of an example and gives a function without arguments, which computes and is what is
timed. Where SciPy or PyTorch is not installed, dense arrays of NumPy take their place: right, and slow.
"""

import itertools
import warnings

import numpy as np

from inputs import Cells

try:
    import scipy.sparse
    import scipy.sparse.csgraph
except ImportError:
    scipy = None
try:
    import torch
except ImportError:
    torch = None

SPARSE = "scipy" if scipy else "numpy"


def matrix(cells):
    if not scipy:
        return cells.dense()
    return scipy.sparse.csr_matrix((cells.values, tuple(cells.keys.T)), shape=cells.shape)


def elementwise(left, right):
    return left.multiply(right) if scipy else left * right


def vector(sums):
    return np.asarray(sums).ravel()


def pagerank(files):
    links = matrix(files["links.mtx"])
    out = vector(links.sum(axis=1))
    share = np.divide(1, out, where=out > 0, out=np.zeros(len(out)))
    backwards = links.T.tocsr() if scipy else links.T

    def compute():
        rank = np.full(len(out), 1 / len(out))
        for _ in range(100):
            lost = rank[out == 0].sum()
            new = 0.15 / len(out) + 0.85 * (backwards @ (share * rank) + lost / len(out))
            change, rank = np.abs(new - rank).sum(), new
            if change < 1e-10:
                break
        return {"rank": rank}

    return compute


def paths(files):
    cells = files["roads.mtx"]
    roads = matrix(cells)

    def compute():
        shortest = scipy.sparse.csgraph.dijkstra
        return {"hops": shortest(roads, indices=0, unweighted=True), "distance": shortest(roads, indices=0)}

    def relaxed(lengths):
        distance = np.full(cells.shape[0], np.inf)
        distance[0] = 0
        for _ in range(cells.shape[0]):
            new = distance.copy()
            np.minimum.at(new, cells.keys[:, 1], distance[cells.keys[:, 0]] + lengths)
            if np.array_equal(new, distance):
                return new
            distance = new

    if scipy:
        return compute
    return lambda: {"hops": relaxed(np.ones(len(cells.values))), "distance": relaxed(cells.values)}


def triangles(files):
    friends = matrix(files["friends.mtx"])

    def compute():
        degree = vector(friends.sum(axis=1))
        found = vector(elementwise(friends @ friends, friends).sum(axis=1)) / 2
        possible = degree * (degree - 1) / 2
        return {"triangles": found, "clustering": np.divide(found, possible, where=possible > 0, out=np.zeros(len(found)))}

    return compute


def averages(files):
    """The matrix that averages over a paper and its neighbours, symmetrically, and the one over its neighbours alone."""
    cites = files["cites.mtx"].dense()
    with_itself = cites + np.eye(len(cites))
    degree = with_itself.sum(axis=1)
    mean = cites / np.maximum(cites.sum(axis=1, keepdims=True), 1)
    return with_itself / np.sqrt(degree[:, None] * degree), mean


def sparse_torch(array):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that CSR is in beta state
        return torch.from_numpy(array).to_sparse_csr()


def train_torch(files, names, scores, rate, steps):
    """Gradient descent on the cross entropy over the papers of known community."""
    known = torch.from_numpy(files["known.mtx"].dense())
    weights = {name: torch.from_numpy(files[name + ".npy"]).clone().requires_grad_() for name in names}
    losses = []
    for _ in range(steps):
        loss = -(known * torch.log_softmax(scores(weights), dim=1)).sum() / known.sum()
        gradients = torch.autograd.grad(loss, list(weights.values()))
        losses.append(loss.item())
        with torch.no_grad():
            for weight, gradient in zip(weights.values(), gradients):
                weight -= rate * gradient
    return {"losses": np.array(losses), **{name: weight.detach().numpy() for name, weight in weights.items()}}


def train_numpy(files, names, graph, rate, steps):
    """The same with derivatives by hand. `graph` are the matrices of each of the layers' terms; a term without one is None."""
    known, words = files["known.mtx"].dense(), files["words.mtx"].dense()
    weights = {name: files[name + ".npy"].copy() for name in names}
    first, second = names[: len(graph)], names[len(graph) :]
    spread = [words if a is None else a @ words for a in graph]
    losses = []
    for _ in range(steps):
        inner = sum(x @ weights[name] for x, name in zip(spread, first))
        hidden = np.maximum(inner, 0)
        around = [hidden if a is None else a @ hidden for a in graph]
        scores = sum(h @ weights[name] for h, name in zip(around, second))
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        losses.append(-(known * np.log(shares)).sum() / known.sum())
        by_scores = (shares * known.sum(axis=1, keepdims=True) - known) / known.sum()
        by_hidden = 0
        for a, name in zip(graph, second):
            back = by_scores @ weights[name].T
            by_hidden = by_hidden + (back if a is None else a.T @ back)
        by_inner = by_hidden * (inner > 0)
        steps_of = {name: h.T @ by_scores for h, name in zip(around, second)}
        steps_of.update({name: x.T @ by_inner for x, name in zip(spread, first)})
        for name in names:
            weights[name] -= rate * steps_of[name]
    return {"losses": np.array(losses), **weights}


def gcn(files):
    average, _ = averages(files)
    if not torch:
        return lambda: train_numpy(files, ["W1", "W2"], [average], 2, 30)
    graph, words = sparse_torch(average), sparse_torch(files["words.mtx"].dense())

    def scores(w):
        return torch.sparse.mm(graph, torch.relu(torch.sparse.mm(graph, torch.sparse.mm(words, w["W1"]))) @ w["W2"])

    return lambda: train_torch(files, ["W1", "W2"], scores, 2, 30)


def graphsage(files):
    _, mean = averages(files)
    names = ["W1", "V1", "W2", "V2"]
    if not torch:
        return lambda: train_numpy(files, names, [None, mean], 2, 30)
    graph, words = sparse_torch(mean), sparse_torch(files["words.mtx"].dense())

    def scores(w):
        itself, around = torch.sparse.mm(words, w["W1"]), torch.sparse.mm(words, w["V1"])
        hidden = torch.relu(itself + torch.sparse.mm(graph, around))
        return hidden @ w["W2"] + torch.sparse.mm(graph, hidden @ w["V2"])

    return lambda: train_torch(files, names, scores, 2, 30)


def ratings(files):
    """Alternating least squares, one user and one film at a time, as one writes it over the arrays of CSR."""
    cells = files["ratings.mtx"]
    orders = []
    for axis in (0, 1):
        order = np.argsort(cells.keys[:, axis], kind="stable")
        starts = np.searchsorted(cells.keys[order, axis], np.arange(cells.shape[axis] + 1))
        orders.append((cells.keys[order, 1 - axis], cells.values[order], starts))

    def solved(order, other):
        columns, values, starts = order
        rank = other.shape[1]
        result = np.zeros((len(starts) - 1, rank))
        for n, (begin, end) in enumerate(zip(starts, starts[1:])):
            rows = other[columns[begin:end]]
            result[n] = np.linalg.solve(rows.T @ rows + 0.1 * np.eye(rank), values[begin:end] @ rows)
        return result

    def compute():
        films = files["films.npy"]
        for _ in range(5):
            users = solved(orders[0], films)
            films = solved(orders[1], users)
        products = np.einsum("nr,nr->n", users[cells.keys[:, 0]], films[cells.keys[:, 1]])
        return {"users": users, "films": films, "error": np.sqrt(np.mean((cells.values - products) ** 2))}

    return compute


def cp(files):
    """CP-ALS. The product of the tensor with two factors (MTTKRP) adds up its cells in the order of each dimension."""
    cells = files["visits.tns"]
    orders = []
    for axis in range(3):
        order = np.argsort(cells.keys[:, axis], kind="stable")
        rows, starts = np.unique(cells.keys[order, axis], return_index=True)
        orders.append((cells.keys[order], cells.values[order, None], rows, starts))

    def solved(axis, factors):
        keys, values, rows, starts = orders[axis]
        others = [n for n in range(3) if n != axis]
        products = values * factors[others[0]][keys[:, others[0]]] * factors[others[1]][keys[:, others[1]]]
        sums = np.zeros((cells.shape[axis], products.shape[1]))
        sums[rows] = np.add.reduceat(products, starts)
        grams = [factors[n].T @ factors[n] for n in others]
        return np.linalg.solve(grams[0] * grams[1], sums.T).T

    def compute():
        factors = [None, files["start1.npy"], files["start2.npy"]]
        for _ in range(10):
            for axis in range(3):
                factors[axis] = solved(axis, factors)
        a, b, c = factors
        model = ((a.T @ a) * (b.T @ b) * (c.T @ c)).sum()
        i, j, k = cells.keys.T
        both = (cells.values * np.einsum("nr,nr,nr->n", a[i], b[j], c[k])).sum()
        norm = (cells.values**2).sum()
        return {"A": a, "B": b, "C": c, "fit": 1 - np.sqrt(max(norm - 2 * both + model, 0) / norm)}

    return compute


def models(files):
    """Tries all assignments."""
    clauses = files["formula.npy"]
    variables = np.abs(clauses).max()

    def compute():
        assignments = np.arange(2**variables)
        holds = np.ones(len(assignments), dtype=bool)
        for clause in clauses:
            holds &= np.any([(assignments >> (abs(v) - 1) & 1) == (v > 0) for v in clause], axis=0)
        return {"models": holds.sum()}

    return compute


def attention(files):
    q, k, v = (files[name + ".npy"].reshape(-1, files["Q.npy"].shape[-1]) for name in "QKV")
    block = files["Q.npy"].shape[1]
    mask = np.kron(files["looks.mtx"].dense(), np.ones((block, block))) > 0

    def compute():
        scores = np.where(mask, q @ k.T / np.sqrt(q.shape[1]), -np.inf)
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return {"Y": (e @ v / e.sum(axis=1, keepdims=True)).reshape(files["Q.npy"].shape)}

    if not torch:
        return compute
    q, k, v, mask = map(torch.from_numpy, (q, k, v, mask))

    def compute_torch():
        scores = (q @ k.T / np.sqrt(q.shape[1])).masked_fill(~mask, -torch.inf)
        return {"Y": (torch.softmax(scores, dim=1) @ v).numpy().reshape(files["Q.npy"].shape)}

    return compute_torch


def search(files):
    """Words in alphabetical order are the terms."""
    words = sorted({word for _, word in files["words.csv"]})
    number = dict(zip(words, itertools.count()))
    places, inverse = np.unique(
        [(document, number[word]) for document, word in files["words.csv"]], axis=0, return_counts=True
    )
    documents = places[:, 0].max() + 1
    shape = (documents, len(words))
    counts = matrix(Cells(shape, places, inverse.astype(float)))
    query = np.zeros(len(words))
    for (word,) in files["query.csv"]:
        query[number[word]] += 1

    def compute():
        idf = np.log(documents / vector((counts > 0).sum(axis=0)))
        weights = counts.multiply(idf).tocsr() if scipy else counts * idf
        length = np.sqrt(vector(elementwise(weights, weights).sum(axis=1)))
        score = np.zeros(100_000)  # the extent in the script, which takes no room
        score[:documents] = weights @ (query * idf) / length
        return {"score": score}

    return compute


PEERS = {
    "pagerank": (SPARSE, pagerank),
    "paths": (SPARSE, paths),
    "triangles": (SPARSE, triangles),
    "gcn": ("torch" if torch else "numpy", gcn),
    "graphsage": ("torch" if torch else "numpy", graphsage),
    "ratings": ("numpy", ratings),
    "cp": ("numpy", cp),
    "models": ("numpy", models),
    "attention": ("torch" if torch else "numpy", attention),
    "search": (SPARSE, search),
}
