#!/usr/bin/python3
"""Compares functions of whole vectors with NumPy: SORT, ARGSORT, TOPK, ARGTOPK, MEDIAN, QUANTILE, MODE, COUNT_DISTINCT,
FFT, IFFT, RFFT, IRFFT, UNIQUE and what goes with it, CONCAT, STACK, VAR, STD, VARIANCE, STDDEV, CUMSUM, CUMMAX and CUMMIN
with a second argument, and SCAN of all aggregates and of users' ones, along random labels of random tensors, with results in random orders of dimensions; whole and cut into tiles, with little memory, without passes, and on three workers. Gradients of SORT,
TOPK, CUMSUM with a second argument and SCAN are compared, too."""
import random
import sys

import numpy as np

from modes import compare, partitioned, query_modes

CASES = 200
PARTITIONS = {"A": (2, 1, 3), "B": (4,), "C": (3, 2), "N": (2, 3), "I": (3, 2), "F": (2, 2), "Z": (2, 2)}
LABELS = "ijk"
PASSES = "inlining,elementwise_fusion,chain_fusion,common_subexpressions,selection_pushdown"


def order(values, axis, descending):
    """NaN last, and equal values in their order, either way."""
    keys = np.where(np.isnan(values), np.inf, -values if descending else values)
    # An infinite value stands before NaN.
    return np.lexsort((keys, np.isnan(values)), axis=axis) if values.ndim == 1 else np.apply_along_axis(
        lambda v: order(v, 0, descending), axis, values)


def mode(values):
    found, counts = np.unique(values, return_counts=True)
    return found[np.argmax(counts)]


def recurrence(word, values, factors, axis):
    """h[0] = x[0], and then h[t] = a[t] * h[t-1] + x[t], or the greatest or least of a[t] + h[t-1] and x[t]."""
    values, factors = (np.moveaxis(array, axis, 0) for array in np.broadcast_arrays(values, factors))
    join = {"CUMSUM": lambda a, h, x: a * h + x, "CUMMAX": lambda a, h, x: np.maximum(a + h, x),
            "CUMMIN": lambda a, h, x: np.minimum(a + h, x), "CUMLOGSUMEXP": lambda a, h, x: np.logaddexp(a + h, x)}[word]
    result = [values[0]]
    for factor, value in zip(factors[1:], values[1:]):
        result.append(join(factor, result[-1], value))
    return np.moveaxis(np.array(result), 0, axis)


def recurrence_case(rng):
    name = rng.choice(["A", "B", "C", "F", "I", "Z"])
    values = VALUES[name]
    axis = rng.randrange(values.ndim)
    own = LABELS[:values.ndim]
    reference = f"{name}[{','.join(own)}]"
    places = np.arange(values.shape[axis]).reshape([-1 if d == axis else 1 for d in range(values.ndim)])
    factor, factors = rng.choice([
        ("0.5", 0.5), ("-1", -1), (f"0.25 * {reference}", 0.25 * values), (f"{own[axis]} / 8", places / 8),
        (f"CASE WHEN {own[axis]} % 3 = 0 THEN 0 ELSE 1 END", np.where(places % 3 == 0, 0, 1))])
    if name == "I" and factor not in ("0.5", "-1"):
        factor, factors = "2", 2
    if rng.random() < 0.2 and name != "I":
        reference, factor, values, factors = factor, reference, factors, values
        if "[" not in reference and "[" not in factor:
            reference, values = f"{name}[{','.join(own)}]", VALUES[name]
    word = "CUMSUM" if name == "Z" else rng.choice(["CUMSUM", "CUMSUM", "CUMMAX", "CUMMIN", "CUMLOGSUMEXP"])
    if word == "CUMLOGSUMEXP" and name == "I":
        values = values.astype(float)
    expected = recurrence(word, values, factors, axis)
    if name == "F":
        expected = expected.astype(np.float32)
    head = list(own)
    rng.shuffle(head)
    expected = np.transpose(expected, [own.index(label) for label in head])
    return f"EINSUM Z[{','.join(head)}] = {word}[{own[axis]}]({reference}, {factor})", expected


def recurrence_gradient(rng):
    word = rng.choice(["CUMSUM", "CUMSUM", "CUMMAX", "CUMMIN", "CUMLOGSUMEXP"])
    axis = rng.randrange(2)
    along = "ij"[axis]
    whole = rng.random() < 0.5  # the factors, or one for each step
    factors = 0.4 * VALUES["C"] if whole else 0.4 * (VALUES["C"][:, :1] if axis == 0 else VALUES["C"][:1])
    factor = "C[i,j]" if whole else "C[i,0]" if axis == 0 else "C[0,j]"
    weights = np.arange(7)[:, None] - np.arange(5)[None, :]

    def loss(x, a):
        return (weights * recurrence(word, x, a, axis)).sum()

    def change(array, n, loss_of):
        moved = np.zeros(array.size)
        moved[n] = 1e-4
        moved = moved.reshape(array.shape)
        return (loss_of(array + moved) - loss_of(array - moved)) / 2e-4

    x = VALUES["C"] ** 2
    of = rng.choice(["X", "W"])
    array = x if of == "X" else factors
    loss_of = (lambda moved: loss(moved, factors)) if of == "X" else (lambda moved: loss(x, moved))
    expected = np.array([change(array, n, loss_of) for n in range(array.size)]).reshape(array.shape)
    labels = "i,j" if of == "X" or whole else along
    text = (f"WITH X[i,j] = C[i,j]^2, W[{'i,j' if whole else along}] = 0.4 * {factor}, "
            f"GRADIENT OF L[] = SUM((i - j) * {word}[{along}](X[i,j], W[{'i,j' if whole else along}])) "
            f"WITH RESPECT TO ({of} AS G) EINSUM Z[{labels}] = G[{labels}]")
    return text, expected.reshape(-1) if labels == along else expected


def running(step, values, axis):
    """c[0] = x[0], and then c[t] = step(c[t-1], x[t])."""
    values = np.moveaxis(values, axis, 0)
    result = [values[0]]
    for value in values[1:]:
        result.append(step(result[-1], value))
    return np.moveaxis(np.array(result), 0, axis)


AGGREGATES = ("CREATE AGGREGATE any_of(x, y) AS x + y - x * y INITIAL 0 COMMUTATIVE ASSOCIATIVE;"
              "CREATE AGGREGATE longest(x, y) AS GREATEST(x, y) INITIAL -INFINITY COMMUTATIVE ASSOCIATIVE;"
              "CREATE AGGREGATE latest(x, y) AS CASE WHEN y <> 0 THEN y ELSE x END INITIAL 0 ASSOCIATIVE;"
              "CREATE AGGREGATE known(x, y) AS CASE WHEN y = y THEN y ELSE x END INITIAL NAN ASSOCIATIVE;")
STEPS = {"SUM": np.add, "PROD": np.multiply, "MIN": np.minimum, "MAX": np.maximum, "LOGSUMEXP": np.logaddexp,
         "any_of": lambda x, y: x + y - x * y, "longest": np.maximum, "latest": lambda x, y: np.where(y != 0, y, x),
         "known": lambda x, y: np.where(y == y, y, x)}


def scan_case(rng):
    name = rng.choice(["A", "B", "C", "F", "I", "N", "Z"])
    values = VALUES[name]
    axis = rng.randrange(values.ndim)
    own = LABELS[:values.ndim]
    reference = f"{name}[{','.join(own)}]"
    words = {"Z": ["SUM", "PROD", "any_of"], "N": ["MAX", "known", "LOGSUMEXP"]}.get(
        name, [*STEPS, "ANY", "ALL", "COUNT_NONZERO", "MEAN", "NORM"])
    word = rng.choice([word for word in words if word != "known" or name != "I"])
    if word in ("PROD", "any_of") and name != "I":
        reference, values = f"{reference} / 8", values / 8
    counts = np.arange(1, values.shape[axis] + 1).reshape([-1 if d == axis else 1 for d in range(values.ndim)])
    with np.errstate(all="ignore"):
        if word in STEPS:
            given = values.astype(float) if word == "LOGSUMEXP" and name == "I" else values
            expected = running(STEPS[word], given, axis)
        elif word in ("ANY", "ALL", "COUNT_NONZERO"):
            step = {"ANY": np.maximum, "ALL": np.minimum, "COUNT_NONZERO": np.add}[word]
            expected = running(step, (values != 0).astype(np.int64), axis)
        elif word == "MEAN":
            expected = np.cumsum(values, axis) / counts
        else:
            expected = np.sqrt(np.cumsum(values.astype(float)**2, axis))
    head = list(own)
    rng.shuffle(head)
    expected = np.transpose(expected, [own.index(label) for label in head])
    along = own[axis]
    known = word in ("SUM", "PROD", "MIN", "MAX", "LOGSUMEXP") and rng.random() < 0.5
    body = f"CUM{word}[{along}]({reference})" if known else f"SCAN[{along}]({word}, {reference})"
    return f"EINSUM Z[{','.join(head)}] = {body}", expected


def scan_gradient(rng):
    axis = rng.randrange(2)
    along = "ij"[axis]
    word = rng.choice(["LOGSUMEXP", "LOGSUMEXP", "any_of", "latest", "MAX", "MIN", "PROD"])
    weights = np.arange(7)[:, None] - np.arange(5)[None, :]
    x = VALUES["C"]

    def loss(moved):
        return (weights * running(STEPS[word], moved, axis)).sum()

    expected = np.zeros(x.shape)
    for place in np.ndindex(*x.shape):
        change = np.zeros(x.shape)
        change[place] = 1e-5
        expected[place] = (loss(x + change) - loss(x - change)) / 2e-5
    if rng.random() < 0.5:
        return (f"WITH GRADIENT OF L[] = SUM((i - j) * SCAN[{along}]({word}, C[i,j])) WITH RESPECT TO (C AS G) "
                f"EINSUM Z[i,j] = G[i,j]"), expected
    tangent = np.cos(np.arange(7)[:, None] + np.arange(5)[None, :])
    return (f"WITH T[i 7,j 5] = COS(i + j) JVP OF L[] = SUM((i - j) * SCAN[{along}]({word}, C[i,j])) "
            f"WITH RESPECT TO (C ALONG T)"), np.array((expected * tangent).sum())


def case(rng):
    name = rng.choice(list(PARTITIONS))
    values = VALUES[name]
    axis = rng.randrange(values.ndim)
    along = LABELS[axis]
    own = LABELS[:values.ndim]
    reference = f"{name}[{','.join(own)}]"
    if rng.random() < 0.3 and name != "N":
        reference, values = f"2 * {reference} - 1", 2 * values - 1
    ordered = ["SORT", "ARGSORT", "TOPK", "ARGTOPK", "MODE", "COUNT_DISTINCT", "MEDIAN", "QUANTILE", "SELECT"]
    function = rng.choice(ordered + ["VAR", "STD", "VARIANCE", "STDDEV", "FFT", "IFFT"])
    if name == "Z":
        function = rng.choice(["FFT", "IFFT", "VAR", "STD"])
    if name == "N" and function in ("FFT", "IFFT"):
        function = "SORT"
    labels = list(own)
    if function in ("SORT", "ARGSORT", "SELECT"):
        descending = rng.random() < 0.5
        indices = order(values, axis, descending)
        expected = np.take_along_axis(values, indices, axis) if function != "ARGSORT" else indices
        word = "ARGSORT" if function == "ARGSORT" else "SORT"
        body = f"{word}[{along}{' DESC' if descending else rng.choice(['', ' ASC'])}]({reference})"
        if function == "SELECT":  # the third value of each
            body, expected = f"SUM[{along}](CASE WHEN {along} = 2 THEN {body} ELSE 0 END)", np.take(expected, 2, axis)
            labels.remove(along)
    elif function in ("TOPK", "ARGTOPK"):
        count = rng.randrange(1, values.shape[axis] + 1)
        indices = np.take(order(values, axis, True), range(count), axis)
        expected = indices if function == "ARGTOPK" else np.take_along_axis(values, indices, axis)
        body = f"{function}[{along}, n {count}]({reference})"
        labels[axis] = "n"
    elif function in ("FFT", "IFFT"):
        expected = (np.fft.fft if function == "FFT" else np.fft.ifft)(values, axis=axis)
        body = f"{function}[{along}]({reference})"
    else:
        over = [along] + [label for label in own if label != along and rng.random() < 0.3]
        axes = tuple(own.index(label) for label in over)
        flat = np.moveaxis(values, axes, range(-len(axes), 0)).reshape(
            [size for d, size in enumerate(values.shape) if d not in axes] + [-1])
        share = rng.choice([0, 1, 0.25, 0.9, 1 / 3])
        expected = {"MODE": lambda: np.apply_along_axis(mode, -1, flat),
                    "COUNT_DISTINCT": lambda: np.apply_along_axis(lambda v: len(np.unique(v)), -1, flat),
                    "MEDIAN": lambda: np.median(flat, -1), "QUANTILE": lambda: np.quantile(flat, share, axis=-1),
                    "VAR": lambda: flat.var(-1), "STD": lambda: flat.std(-1),
                    "VARIANCE": lambda: flat.var(-1, ddof=1), "STDDEV": lambda: flat.std(-1, ddof=1)}[function]()
        body = f"{function}[{','.join(over)}]({reference}{f', {share}' if function == 'QUANTILE' else ''})"
        labels = [label for label in own if label not in over]
    head = labels[:]
    rng.shuffle(head)
    expected = np.transpose(expected, [labels.index(label) for label in head])
    return f"EINSUM Z[{','.join(head)}] = {body}", expected


def unique_values(line, room):
    """The different values of a line with what numpy.unique gives with them, with 0 or -1 behind the last one."""
    values, indices, inverse, counts = np.unique(line, return_index=True, return_inverse=True, return_counts=True)
    behind = room - len(values)
    return {"UNIQUE": np.pad(values, (0, behind)), "UNIQUE_INDEX": np.pad(indices, (0, behind), constant_values=-1),
            "UNIQUE_COUNT": np.pad(counts, (0, behind)), "UNIQUE_INVERSE": inverse}


def unique_case(rng):
    name = rng.choice(["A", "B", "C", "I", "N", "F"])
    values = VALUES[name]
    axis = rng.randrange(values.ndim)
    own = LABELS[:values.ndim]
    word = rng.choice(["UNIQUE", "UNIQUE_INDEX", "UNIQUE_COUNT", "UNIQUE_INVERSE"])
    room = values.shape[axis] + rng.choice([0, 0, 3]) if values.shape[axis] < 100 else 9
    expected = np.apply_along_axis(lambda line: unique_values(line, room)[word], axis, values)
    labels = list(own)
    keeps = word == "UNIQUE_INVERSE"
    if not keeps:
        labels[axis] = "n"
    reference = f"{name}[{','.join(own)}]"
    body = f"{word}[{own[axis]}{'' if keeps else f', n {room}'}]({reference})"
    return turned(rng, body, expected, labels)


def turned(rng, body, expected, labels):
    head = labels[:]
    rng.shuffle(head)
    return f"EINSUM Z[{','.join(head)}] = {body}", np.transpose(expected, [labels.index(label) for label in head])


def half_fourier_case(rng):
    name = rng.choice(["A", "B", "C", "I", "F"])
    values = VALUES[name]
    axis = rng.randrange(values.ndim)
    own = LABELS[:values.ndim]
    labels = list(own)
    labels[axis] = "n"
    reference = f"{name}[{','.join(own)}]"
    expected = np.fft.rfft(values, axis=axis)
    if rng.random() < 0.5:
        return turned(rng, f"RFFT[{own[axis]},n]({reference})", expected, labels)
    if name != "F" and rng.random() < 0.5:  # the values as frequencies
        count = 2 * values.shape[axis] - rng.choice([1, 2])
        if count > 0:
            factor, factors = rng.choice([("", 1), ("(2 - 1j) * ", 2 - 1j)])
            return turned(rng, f"IRFFT[{own[axis]}, n {count}]({factor}{reference})",
                          np.fft.irfft(factors * values, n=count, axis=axis), labels)
    return turned(rng, f"IRFFT[m, n {values.shape[axis]}](RFFT[{own[axis]},m]({reference}))", values, labels)


def joined_case(rng):
    name = rng.choice(["A", "C", "I", "F", "Z"])
    values = VALUES[name]
    axis = rng.randrange(values.ndim)
    own = LABELS[:values.ndim]
    reference = f"{name}[{','.join(own)}]"
    first = name + "[" + ",".join("0" if d == axis else label for d, label in enumerate(own)) + "]"
    parts = [(reference, values), (f"2 * {reference}", 2 * values),
             (f"{name}[{','.join(label + ' + 1' if d == axis else label for d, label in enumerate(own))}]",
              np.take(values, range(1, values.shape[axis]), axis)),
             (first, np.take(values, [0], axis)), ("5", np.full_like(np.take(values, [0], axis), 5))]
    labels = list(own)
    if rng.random() < 0.6:
        chosen = [parts[0]] + rng.choices(parts, k=rng.randrange(4))
        rng.shuffle(chosen)
        body = f"CONCAT[{own[axis]}]({', '.join(text for text, _ in chosen)})"
        return turned(rng, body, np.concatenate([array for _, array in chosen], axis), labels)
    chosen = rng.choices(parts[:2] + [("3", np.full_like(values, 3))], k=rng.randrange(3)) + [parts[0]]
    place = rng.randrange(values.ndim + 1)
    labels.insert(place, "n")
    return turned(rng, f"STACK[n]({', '.join(text for text, _ in chosen)})",
                  np.stack([array for _, array in chosen], place), labels)


def gradient(rng):
    name = rng.choice(["A", "B", "C"])
    values = VALUES[name]
    axis = rng.randrange(values.ndim)
    own = LABELS[:values.ndim]
    descending = rng.random() < 0.5
    indices = order(values, axis, descending)
    weights = np.arange(1, values.shape[axis] + 1).reshape([-1 if d == axis else 1 for d in range(values.ndim)])
    expected = np.zeros(values.shape)
    np.put_along_axis(expected, indices, np.broadcast_to(weights, values.shape).astype(float), axis)
    text = (f"WITH GRADIENT OF L[] = SUM(({own[axis]} + 1) * SORT[{own[axis]}{' DESC' if descending else ''}]"
            f"({name}[{','.join(own)}])) WITH RESPECT TO ({name} AS G) EINSUM Z[{','.join(own)}] = G[{','.join(own)}]")
    return text, expected


def agrees(n, found, expected):
    tolerance = (3e-5, 1e-5) if found.dtype in (np.float32, np.complex64) else (1e-11, 1e-11)
    if n >= 3 * CASES + CASES // 10 + CASES // 3:  # differences
        tolerance = (1e-6, 1e-6)
    return found.shape == expected.shape and np.allclose(found, expected, *tolerance, equal_nan=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    rng = random.Random(20261129)
    wanted = [case(rng) for _ in range(count)] + [gradient(rng) for _ in range(count // 10)]
    wanted += [rng.choice([unique_case, half_fourier_case, joined_case])(rng) for _ in range(count)]
    wanted += [recurrence_case(rng) for _ in range(count // 3)] + [scan_case(rng) for _ in range(count)]
    wanted += [recurrence_gradient(rng) for _ in range(count // 10)] + [scan_gradient(rng) for _ in range(count // 5)]
    modes = query_modes(partitioned(PARTITIONS), PASSES)
    modes = {mode: AGGREGATES + before for mode, before in modes.items()}
    return compare(modes, VALUES, [(f"COPY ({text}) TO @", expected) for text, expected in wanted], agrees)


GENERATOR = np.random.default_rng(13)
VALUES = {"A": GENERATOR.integers(-4, 5, (5, 4, 6)).astype(float), "B": GENERATOR.integers(-3, 4, 1500).astype(float),
          "C": GENERATOR.normal(size=(7, 5)), "I": GENERATOR.integers(-4, 5, (6, 3)),
          "F": GENERATOR.normal(size=(4, 37)).astype(np.float32),
          "N": GENERATOR.integers(-2, 3, (4, 7)).astype(float),
          "Z": GENERATOR.normal(size=(4, 6)) + 1j * GENERATOR.normal(size=(4, 6))}
VALUES["N"][GENERATOR.random((4, 7)) < 0.3] = np.nan
VALUES["N"][0, 0] = np.inf

if __name__ == "__main__":
    sys.exit(main())
