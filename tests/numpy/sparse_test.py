#!/usr/bin/python3
"""Compares statements over sparse tensors with NumPy's dense computation: random aggregates, products of up to four
operands, elementwise expressions, definitions, gradients, and tensors that are made, updated, appended to and extended
on the way, of many types, ranks and densities, with NaN, infinities and -0 at times; read as cells wherever possible,
where that is predicted to be faster, and never; stored whole and cut into tiles, with little memory, in a transaction,
on 1 to 16 threads, and on workers. Statements over tensors that would be far too large as dense arrays are tested, too.

    sparse_test.py EINDB [BATCHES [SEED]]

Each batch makes a few tensors and runs some 40 statements, in three modes."""
import contextlib
import csv
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cluster"))

import nodes  # noqa: E402

EINDB = nodes.EINDB  # which takes the program from the arguments
BATCHES = 12
STEPS = 40
HANG_SECONDS = float(os.environ.get("EINDB_SPARSE_HANG", "20"))
LARGEST = 2.0**24  # values beyond might be inexact in FLOAT32
POINTS = 400000  # of the arrays that NumPy makes
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 33, 40, 64, 70]
DENSITIES = [0, 0.0005, 0.01, 0.01, 0.05, 0.1, 0.6, 1]
TYPES = ["FLOAT64", "FLOAT64", "FLOAT32", "INT64", "COMPLEX128", "BOOL", "INT8", "BFLOAT16"]
DTYPES = {"FLOAT64": "f8", "FLOAT32": "f4", "BFLOAT16": "f4", "INT64": "i8", "COMPLEX128": "c16", "BOOL": "?", "INT8": "i1"}
NARROW = ("FLOAT32", "BFLOAT16")
LABELS = "abcdefgh"
WORKERS = "SET small_statements = 'workers'; "


class Unfit(Exception):
    """The statement is too large, inexact, or depends on the order of the computation."""


class Tensor:
    def __init__(self, name, kind, values, labels=None, target=None):
        """`labels` are those of its dimensions; `target` is the extent that its values are indices of."""
        self.name, self.kind, self.target = name, kind, target
        self.labels = labels or list("ijkl"[:values.ndim])
        self.values = values.astype("c16" if values.dtype.kind == "c" else "f8")  # holds all of them exactly

    @property
    def finite(self):
        return bool(np.isfinite(self.values).all())


def divided(sums, count):
    """NumPy's quotient of a complex number with an infinite part is NaN, as it divides by a complex number."""
    if sums.dtype.kind != "c":
        return sums / count
    quotients = sums.copy()
    quotients.real, quotients.imag = sums.real / count, sums.imag / count
    return quotients


def bounded(values):
    finite = values[np.isfinite(values)]
    if finite.size and np.abs(finite).max() >= LARGEST:
        raise Unfit
    return values


class Part:
    """An expression: its text, and its values over all labels of the statement (1 index for those it lacks)."""

    def __init__(self, text, values, narrow=False):
        self.text, self.values, self.narrow = text, bounded(values), narrow


class Batch:
    def __init__(self, rng, seed):
        self.rng, self.numpy = rng, np.random.default_rng(seed)
        # Half of the batches have large tensors, which are read as cells by default if they are sparse.
        self.large = rng.random() < 0.5
        self.sizes = sorted(rng.sample(EXTENTS, 2) + [70, rng.choice([64, 100, 150])] if self.large else
                            rng.sample(EXTENTS, 3) + ([64] if rng.random() < 0.3 else []))
        self.sizes = sorted(set(self.sizes))
        # Two labels of each extent; only some of them if NumPy would need too many points.
        self.extents = dict(zip(LABELS, [size for size in self.sizes for _ in range(2)]))
        self.tensors, self.loads, self.steps, self.made = {}, [], [], 0
        for n in range(9):
            self.add_random(f"T{n}")
        for n in range(2):  # for gathers
            source, target = rng.choice(self.sizes), rng.choice(self.sizes)
            values = self.numpy.integers(0, target, source)
            self.add(Tensor(f"G{n}", "INT64", values, target=target), values)
        for _ in range(STEPS):
            self.step()

    def add_random(self, name):
        rng = self.rng
        shape = [rng.choice(self.sizes[-2:] if self.large and rng.random() < 0.8 else self.sizes)
                 for _ in range(rng.choice([1, 2, 2, 2, 2, 3, 3, 4]))]
        while np.prod(shape) > 40000:
            shape.pop()
        kind = rng.choice(TYPES)
        dtype = np.dtype(DTYPES[kind])
        density = rng.choice(DENSITIES[:6] if self.large and rng.random() < 0.8 else DENSITIES)
        values = self.numpy.integers(-2, 4, shape)
        if kind == "COMPLEX128":
            values = values + 1j * self.numpy.integers(-2, 3, shape)
        values = np.where(self.numpy.random(shape) < density, values, 0)
        if density == 0.0005 and values.size:  # at least one
            values.flat[rng.randrange(values.size)] = 1
        values = (values != 0 if kind == "BOOL" else values).astype(dtype)
        if dtype.kind in "fc" and rng.random() < 0.3:
            special = rng.choice([[-0.0], [np.nan], [np.nan, -0.0], [np.inf, -np.inf, -0.0], [np.inf]])
            if dtype.kind == "c":  # NaN in either part counts as NaN; products of infinities are not of one opinion
                special = [value for value in special if not np.isinf(value)] or [np.nan]
            for _ in range(rng.randrange(1, 4)):
                values.flat[rng.randrange(values.size)] = rng.choice(special)
        self.add(Tensor(name, kind, values), values)

    def add(self, tensor, values):
        tensor.loaded = values
        self.tensors[tensor.name] = tensor
        self.loads.append(tensor)

    # References

    def reference(self, labels=None, tensor=None, plain=False):
        """A reference to a tensor, with labels among `labels`."""
        rng = self.rng
        found = [t for t in self.tensors.values() if t.target is None] if tensor is None else [tensor]
        rng.shuffle(found)
        for tensor in found:
            terms = []
            values = tensor.values
            for extent in values.shape:
                fitting = [l for l in (labels or self.extents) if self.extents[l] == extent]
                unused = [l for l in fitting if l not in terms]
                kind = rng.random()
                if plain or kind < 0.9:
                    if not fitting or (plain and not unused):
                        break
                    terms.append(rng.choice(unused if unused and (plain or rng.random() < 0.9) else fitting))
                elif kind < 0.95:
                    terms.append(str(rng.choice([rng.randrange(extent), -1])))
                else:
                    gathers = [t for t in self.tensors.values() if t.target == extent]
                    if not gathers:
                        break
                    gather = rng.choice(gathers)
                    fitting = [l for l in (labels or self.extents) if self.extents[l] == gather.values.shape[0]]
                    if not fitting:
                        break
                    terms.append(f"{gather.name}[{rng.choice(fitting)}]")
            if len(terms) == values.ndim:
                return self.read(tensor, terms)
        raise Unfit

    def read(self, tensor, terms):
        used = sorted({term[-2] if term[-1] == "]" else term for term in terms if term[-1] == "]" or term in LABELS})
        self.fits(used)
        grid = dict(zip(used, np.ix_(*[np.arange(self.extents[label]) for label in used])))
        index = tuple(self.tensors[term[:2]].values.astype(int)[grid[term[-2]]] if term[-1] == "]"
                      else grid[term] if term in LABELS else int(term) for term in terms)
        values = np.asarray(tensor.values[index])
        values = np.broadcast_to(values, [self.extents[label] for label in used])
        shape = [self.extents[label] if label in used else 1 for label in self.extents]
        if not tensor.finite:
            self.special = True
        return Part(f"{tensor.name}[{','.join(terms)}]", values.reshape(shape), tensor.kind in NARROW)

    def fits(self, labels):
        if np.prod([float(self.extents[label]) for label in labels]) > POINTS:
            raise Unfit

    # Expressions

    def binary(self, operator, x, y):
        self.fits([l for n, l in enumerate(self.extents)
                   if max(x.values.shape[n], y.values.shape[n]) > 1])
        call = {"+": np.add, "-": np.subtract, "*": np.multiply, "LEAST": np.minimum, "GREATEST": np.maximum}[operator]
        if operator in ("LEAST", "GREATEST") and (x.values.dtype.kind == "c" or y.values.dtype.kind == "c"):
            raise Unfit
        text = f"({x.text} {operator} {y.text})" if len(operator) == 1 else f"{operator}({x.text}, {y.text})"
        with np.errstate(all="ignore"):
            return Part(text, call(x.values, y.values), x.narrow or y.narrow)

    def unary(self, x):
        rng = self.rng
        real = x.values.dtype.kind != "c"
        kind = rng.choice(["2 *", "* 3", "^ 2", "negate", "ABS", "CASE", "CASE <>", "RELU", "SIGN", "EXP", "SQRT", "/",
                           "+ 1", "0 *", "CAST", "REAL", "SIN", "NOT"])
        if not real and kind in ("CASE", "CASE <>", "RELU", "SIGN", "EXP", "SQRT", "CAST", "SIN", "NOT", "/"):
            kind = "ABS"
        v, t = x.values, x.text
        with np.errstate(all="ignore"):
            text, values = {
                "2 *": lambda: (f"2 * {t}", 2 * v), "* 3": lambda: (f"{t} * 3", v * 3), "^ 2": lambda: (f"{t} ^ 2", v * v),
                "negate": lambda: (f"-{t}", -v), "ABS": lambda: (f"ABS({t})", np.abs(v)),
                "CASE": lambda: (f"CASE WHEN {t} > 0 THEN {t} ELSE 0 END", np.where(v > 0, v, 0)),
                "CASE <>": lambda: (f"CASE WHEN {t} <> 0 THEN 1 ELSE 0 END", np.where(v != 0, 1.0, 0)),
                "RELU": lambda: (f"RELU({t})", np.where(np.isnan(v), v, np.maximum(v, 0))),
                "SIGN": lambda: (f"SIGN({t})", np.sign(v)), "EXP": lambda: (f"EXP({t})", np.exp(v)),
                "SQRT": lambda: (f"SQRT(ABS({t}))", np.sqrt(np.abs(v))), "/": lambda: (f"{t} / 4", v / 4),
                "+ 1": lambda: (f"{t} + 1", v + 1), "0 *": lambda: (f"0 * {t}", 0 * v),
                "CAST": lambda: (f"CAST({t} AS FLOAT64)", v), "REAL": lambda: (f"REAL({t})", v.real),
                "SIN": lambda: (f"SIN({t})", np.sin(v)), "NOT": lambda: (f"CASE WHEN {t} = 0 THEN 1 ELSE 0 END",
                                                                        np.where(v == 0, 1.0, 0)),
            }[kind]()
        return Part(f"({text})", values, x.narrow)

    def aggregate(self, word, x, labels):
        labels = [l for l in labels if x.values.shape[list(self.extents).index(l)] == self.extents[l]]
        axes = tuple(list(self.extents).index(label) for label in labels)
        v = x.values
        if v.dtype.kind == "c" and word in ("MAX", "MIN", "ARGMAX", "ARGMIN", "ANY", "ALL", "COUNT_NONZERO"):
            word = "SUM"
        if word in ("SUM", "MEAN", "NORM"):
            finite = np.where(np.isfinite(v), np.abs(v), 0)
            if (finite * finite if word == "NORM" else finite).sum(axes).max(initial=0) >= LARGEST:
                raise Unfit
        if word == "PROD":
            finite = np.where(np.isfinite(v) & (v != 0), np.abs(v), 1)
            if np.log2(finite).clip(0).sum(axes).max(initial=0) >= 24 or np.log2(finite).min(initial=0) < 0:
                raise Unfit
            if v.dtype.kind == "c" and not np.isfinite(v).all():
                raise Unfit
        if word in ("ARGMAX", "ARGMIN") and len(axes) != 1:
            word = word[3:]
        count = np.prod([v.shape[axis] for axis in axes])
        keep = {"axis": axes, "keepdims": True}
        with np.errstate(all="ignore"):
            values = {
                "SUM": lambda: v.sum(**keep), "MAX": lambda: v.max(**keep), "MIN": lambda: v.min(**keep),
                "PROD": lambda: v.prod(**keep), "MEAN": lambda: divided(v.sum(**keep), count),
                "COUNT": lambda: np.full(v.sum(**keep).shape, float(count)),
                "COUNT_NONZERO": lambda: (v != 0).sum(**keep).astype(float),
                "ANY": lambda: (v != 0).any(**keep).astype(float), "ALL": lambda: (v != 0).all(**keep).astype(float),
                "NORM": lambda: np.sqrt((np.abs(v)**2).sum(**keep)),
                "ARGMAX": lambda: v.argmax(axes[0], keepdims=True).astype(float),
                "ARGMIN": lambda: v.argmin(axes[0], keepdims=True).astype(float),
            }[word]()
        return Part(f"{word}[{','.join(labels)}]({x.text})", values, x.narrow)

    def labels_of(self, *parts):
        """A label of extent 1 counts as used where the text names it."""
        text = " ".join(part.text for part in parts)  # labels are all that is in lower case
        return [label for label in self.extents if label in text]

    def chosen(self, labels, least=0):
        count = self.rng.randint(least, len(labels))
        return self.rng.sample(labels, count)

    def single(self):
        """An aggregate of one operand."""
        x = self.reference()
        if self.rng.random() < 0.3:
            x = self.unary(x)
        labels = self.labels_of(x)
        if not labels:
            raise Unfit
        words = ["SUM", "SUM", "MAX", "MIN", "PROD", "MEAN", "COUNT", "COUNT_NONZERO", "ANY", "ALL", "NORM",
                 "ARGMAX", "ARGMIN"]
        over = self.chosen(labels, 1)
        return self.aggregate(self.rng.choice(words), x, over), [l for l in labels if l not in over]

    def product(self):
        """A product of several operands, added up or the like over some of the labels."""
        rng = self.rng
        pool = rng.sample(list(self.extents), rng.randint(2, min(5, len(self.extents))))
        parts = [self.reference(pool) for _ in range(rng.choice([2, 2, 2, 2, 3, 3, 4]))]
        if rng.random() < 0.2:  # X * X, or a triangle
            parts[-1] = parts[0]
        operator = "*"
        word = rng.choice(["SUM"] * 7 + ["MAX", "MIN", "MEAN"])
        if rng.random() < 0.15 and all(part.values.dtype.kind != "c" for part in parts):
            operator, word = "+", rng.choice(["MIN", "MAX"])
        if rng.random() < 0.15:
            n = rng.randrange(len(parts))
            parts[n] = self.unary(parts[n])
        labels = self.labels_of(*parts)
        over = self.chosen(labels)
        if self.special:  # only where steps in any order have the same infinities and NaN
            over = [l for l in over if all(l in self.labels_of(part) for part in parts)]
            if len(parts) > 2 and rng.random() < 0.8:
                parts, over = parts[:2], []
                labels = self.labels_of(*parts)
        x = parts[0]
        for y in parts[1:]:
            x = self.binary(operator, x, y)
        if not over:
            return x, labels
        return self.aggregate(word, x, over), [l for l in labels if l not in over]

    def elementwise(self):
        rng = self.rng
        first = self.reference()
        labels = self.labels_of(first)
        if not labels:
            raise Unfit
        x = self.unary(first) if rng.random() < 0.4 else first
        for _ in range(rng.randrange(3)):
            y = self.reference(labels)
            if rng.random() < 0.3:
                y = self.unary(y)
            x = self.binary(rng.choice(["+", "+", "-", "-", "*", "LEAST", "GREATEST"]), x, y)
        if rng.random() < 0.3:
            x = self.unary(x)
        labels = self.labels_of(x)
        over = self.chosen(labels) if rng.random() < 0.4 else []
        if not over:
            return x, labels
        if self.special and "*" in x.text.replace("2 *", "").replace("* 3", "").replace("0 *", ""):
            raise Unfit
        return self.aggregate(rng.choice(["SUM", "SUM", "MAX", "MIN", "MEAN", "PROD"]), x, over), \
            [l for l in labels if l not in over]

    def result(self, shuffled=True):
        """The items of a WITH, the expression, its head, its values."""
        rng = self.rng
        for _ in range(1000):
            self.special = False
            try:
                x, head = rng.choice([self.single, self.product, self.product, self.elementwise])()
                items = ""
                if rng.random() < 0.15:
                    items = f"WITH W[{','.join(head)}] = {x.text} "
                    x = Part(f"W[{','.join(head)}]", x.values, x.narrow)
                    more = self.chosen(head, 1) if head and rng.random() < 0.7 else []
                    if more and not self.special:
                        x = self.aggregate("SUM", x, more)
                        head = [l for l in head if l not in more]
                if rng.random() < 0.2:
                    x = self.unary(x)
                if rng.random() < 0.15 and not self.special:
                    x = Part(f"2 * {x.text} + 1", 2 * x.values + 1, x.narrow)
                self.fits(head)
                place = list(self.extents)
                values = x.values.reshape([self.extents[l] for l in place if l in head])
                order = [l for l in place if l in head]
                if shuffled:
                    rng.shuffle(head)
                return items, x, head, values.transpose([order.index(l) for l in head])
            except Unfit:
                pass
        raise Unfit

    # Statements

    def step(self):
        kinds = ["query"] * 24 + ["create"] * 5 + ["several", "gradient", "gradient", "range", "update", "update",
                                                  "update by", "values", "append", "append rows", "extend", "sql", "sql"]
        for _ in range(100):
            try:
                return getattr(self, self.rng.choice(kinds).replace(" ", "_"))()
            except Unfit:
                pass

    def check(self, statement, values, narrow, exact=False):
        """`statement` has @ for the file that it writes."""
        self.steps.append((statement, values, narrow or exact))

    def query(self):
        items, x, head, values = self.result()
        self.check(f"COPY ({items}EINSUM Z[{','.join(head)}] = {x.text}) TO @", values, x.narrow)

    def range(self):
        tensor = self.any_tensor()
        cut, terms = [], []
        for extent in tensor.values.shape:
            begin = self.rng.randrange(extent)
            end = self.rng.randrange(begin, extent) + 1
            step = self.rng.choice([1, 1, 2, 3])
            cut.append(slice(begin, end, step))
            terms.append(f"{begin}:{end}" + (f":{step}" if step > 1 else ""))
        values = tensor.values[tuple(cut)]
        text = f"{tensor.name}[{','.join(terms)}]"
        if self.rng.random() < 0.5:
            head = ",".join(LABELS[:values.ndim])
            return self.check(f"COPY (EINSUM Z[{head}] = 2 * {text}) TO @", 2 * values, tensor.kind in NARROW)
        self.check(f"COPY (EINSUM Z[] = SUM({text})) TO @", np.asarray(values.sum()), tensor.kind in NARROW)

    def any_tensor(self):
        return self.rng.choice([t for t in self.tensors.values() if t.target is None])

    def keep(self, name, head, values, x):
        kind = "COMPLEX128" if values.dtype.kind == "c" else "FLOAT32" if x.narrow else "FLOAT64"
        if values.ndim and np.all(np.isnan(values) | np.isinf(values) | (values == np.round(values))):
            self.tensors[name] = Tensor(name, kind, values, head)

    def create(self):
        items, x, head, values = self.result()
        if not head or values.size > 50000:
            raise Unfit
        name = f"R{self.made}"
        self.made += 1
        partition = ""
        if self.rng.random() < 0.4:
            partition = f"PARTITION ({', '.join(str(self.rng.randint(1, min(4, n))) for n in values.shape)}) "
        self.check(f"CREATE TENSOR {name} {partition}AS {items}EINSUM Z[{','.join(head)}] = {x.text}; COPY {name} TO @",
                   values, x.narrow)
        self.keep(name, head, values, x)

    def several(self):
        (_, x, head, values), (_, y, other, more) = [self.plain_result() for _ in range(2)]
        names = [f"R{self.made}", f"R{self.made + 1}"]
        self.made += 2
        self.check(f"CREATE TENSOR ({', '.join(names)}) AS WITH {names[0]}[{','.join(head)}] = {x.text}, "
                   f"{names[1]}[{','.join(other)}] = {y.text} EINSUM ({', '.join(names)}); COPY {names[0]} TO @", values,
                   x.narrow)
        self.check(f"COPY {names[1]} TO @", more, y.narrow)
        self.keep(names[0], head, values, x)
        self.keep(names[1], other, more, y)

    def plain_result(self):
        while True:
            found = self.result()
            if not found[0]:
                return found

    def gradient(self):
        """Of a product of references, in which one has a power."""
        rng = self.rng
        pool = rng.sample(list(self.extents), rng.randint(2, min(4, len(self.extents))))
        found = [t for t in self.tensors.values()
                 if t.kind in ("FLOAT64", "FLOAT32", "BFLOAT16") and t.finite and t.name[0] == "T"]
        if not found:
            raise Unfit
        tensor = rng.choice(found)
        self.special = False
        own = self.reference(pool, tensor, plain=True)
        others = [self.reference(pool) for _ in range(rng.randrange(1, 3))]
        if self.special or any(f"{tensor.name}[" in part.text or part.values.dtype.kind == "c" for part in others):
            raise Unfit
        rest = others[0]
        for part in others[1:]:
            rest = self.binary("*", rest, part)
        power = rng.choice([1, 1, 2])
        derived = self.binary("*", own, rest) if power == 2 else rest
        own_labels = own.text[own.text.index("[") + 1:-1].split(",")
        over = [l for l in self.labels_of(own, rest) if l not in own_labels]
        summed = self.aggregate("SUM", derived, over) if over else derived
        values = power * summed.values
        shape = [self.extents[l] if l in own_labels else 1 for l in self.extents]
        values = np.broadcast_to(values, shape).reshape([self.extents[l] for l in self.extents if l in own_labels])
        order = [l for l in self.extents if l in own_labels]
        values = values.transpose([order.index(l) for l in own_labels])
        square = f"{own.text} ^ 2" if power == 2 else own.text
        # An expression of all labels in the head would aggregate none.
        self.check(f"COPY (WITH GRADIENT OF L[] = SUM({square} * {rest.text}) WITH RESPECT TO ({tensor.name} AS G) "
                   f"EINSUM Z[{','.join(own_labels)}] = G[{','.join(own_labels)}]) TO @", values,
                   tensor.kind in NARROW or rest.narrow)

    def update(self):
        tensor = self.any_tensor()
        if tensor.kind == "BOOL":
            raise Unfit
        values = tensor.values.copy()
        terms, cut = [], []
        for n, extent in enumerate(values.shape):
            if self.rng.random() < 0.5:
                index = self.rng.randrange(extent)
                terms.append(str(index))
                cut.append(index)
            else:
                terms.append(LABELS[n])
                cut.append(slice(None))
        operator, factor = self.rng.choice([("+=", 1), ("=", 0), ("=", 2), ("*=", -1), ("-=", 1)])
        part = values[tuple(cut)]
        with np.errstate(all="ignore"):
            values[tuple(cut)] = {"+=": part + factor, "=": factor, "*=": part * factor, "-=": part - factor}[operator]
        self.changed(tensor, values, f"UPDATE TENSOR {tensor.name}[{','.join(terms)}] {operator} {factor}")

    def update_by(self):
        """All of a tensor, by others."""
        tensor = self.any_tensor()
        found = [t for t in self.tensors.values() if t.values.shape == tensor.values.shape and t.target is None]
        x, y = self.rng.choice(found), self.rng.choice(found)
        if tensor.kind == "BOOL" or (tensor.kind != "COMPLEX128" and "COMPLEX128" in (x.kind, y.kind)):
            raise Unfit
        if not (tensor.finite and x.finite and y.finite):
            raise Unfit
        values = tensor.values + x.values * y.values
        own = ",".join(LABELS[:values.ndim])
        operator, before = self.rng.choice([("=", f"{tensor.name}[{own}] + "), ("+=", "")])
        self.changed(tensor, values,
                     f"UPDATE TENSOR {tensor.name}[{own}] {operator} {before}{x.name}[{own}] * {y.name}[{own}]")

    def changed(self, tensor, values, text):
        finite = values[np.isfinite(values)]
        if finite.size and np.abs(finite).max() > 60:  # INT8 would not hold much more
            raise Unfit
        tensor.values = values
        self.check(f"{text}; COPY {tensor.name} TO @", values, True)

    def rows(self, shape, dtype):
        keys = {tuple(self.rng.randrange(extent) for extent in shape) for _ in range(4)}
        rows, values = [], np.zeros(shape, dtype)
        for key in sorted(keys):
            values[key] = self.rng.choice([0, 1, 1])
            rows.append(f"({', '.join(map(str, key))}, {int(values[key].real)})")
        return ", ".join(rows), values, keys

    def values(self):
        tensor = self.any_tensor()
        rows, changed, keys = self.rows(tensor.values.shape, tensor.values.dtype)
        values = tensor.values.copy()
        for key in keys:
            values[key] = changed[key]
        self.changed(tensor, values, f"INSERT INTO TENSOR {tensor.name} VALUES {rows}")

    def growing(self):
        """A tensor, a dimension of it, and how much it lacks to the next extent."""
        tensor = self.any_tensor()
        axis = self.rng.randrange(tensor.values.ndim)
        extent = tensor.values.shape[axis]
        larger = [size for size in self.sizes if size > extent]
        if not larger or tensor.values.size // extent * larger[0] > 60000:
            raise Unfit
        return tensor, axis, larger[0] - extent

    def append(self):
        tensor, axis, more = self.growing()
        shape = list(tensor.values.shape)
        shape[axis] = more
        places = np.indices(shape)[axis]
        period = self.rng.choice([1, 3, 9])
        values = np.where(places % period == 0, 1.0, 0)
        head = ", ".join(f"{label} {extent}" for label, extent in zip(LABELS, shape))
        along = LABELS[axis]
        self.changed(tensor, np.concatenate([tensor.values, values], axis),
                     f"INSERT INTO TENSOR {tensor.name} AT ({tensor.labels[axis]}) EINSUM Z[{head}] = "
                     f"CASE WHEN {along} % {period} = 0 THEN 1 ELSE 0 END")

    def append_rows(self):
        tensor, axis, more = self.growing()
        shape = list(tensor.values.shape)
        shape[axis] = more
        rows, values, keys = self.rows(shape, tensor.values.dtype)
        last = tuple(more - 1 if n == axis else 0 for n in range(len(shape)))
        if last not in keys:
            values[last] = 1
            rows += f", ({', '.join(map(str, last))}, 1)"
        self.changed(tensor, np.concatenate([tensor.values, values], axis),
                     f"INSERT INTO TENSOR {tensor.name} AT ({tensor.labels[axis]}) VALUES {rows}")

    def extend(self):
        tensor, axis, more = self.growing()
        values = np.pad(tensor.values, [(0, more if n == axis else 0) for n in range(tensor.values.ndim)])
        self.changed(tensor, values,
                     f"ALTER TENSOR {tensor.name} EXTEND ({tensor.labels[axis]} {values.shape[axis]})")

    def sql(self):
        tensor = self.any_tensor()
        if tensor.kind == "COMPLEX128" or np.isnan(tensor.values).any():
            raise Unfit
        self.check(f"SHOW TENSORS; COPY (SELECT * FROM {tensor.name} WHERE val <> 0) TO #", tensor.values, False)


# Modes: what stands before the tensors are loaded, and after.

def modes(batch, rng):
    loads = batch.loads
    cut = "".join(
        f"ALTER TENSOR {t.name} PARTITION ({', '.join(str(rng.randint(1, min(5, n))) for n in t.loaded.shape)}); "
        for t in loads if rng.random() < 0.8)
    sparse = "SET tile_format = 'sparse'; "
    small = "SET memory_limit = '2MiB'; SET tile_bytes = 4096; "
    found = {
        "sparse": (sparse, ""),
        "sparse tiles": (sparse, cut),
        "sparse, little memory": (sparse, cut + small),
        "sparse, transaction": (sparse, cut + "BEGIN; "),
        "sparse, many tiles": (sparse, cut + "SET tile_bytes = 1024; "),
        "sparse, planned again": (sparse, cut + "SET replan_factor = 1; "),
        "auto": ("", ""),
        "auto tiles": ("", cut),
        "auto, little memory": ("", cut + small),
        "auto, transaction": ("", "BEGIN; "),
        "workers, sparse": (sparse, cut + WORKERS),
        "workers, sparse, little memory": (sparse, cut + small + WORKERS),
        "workers, sparse, transaction": (sparse, cut + WORKERS + "BEGIN; "),
        "workers, auto": ("", WORKERS),
        "workers, auto tiles": ("", cut + WORKERS),
        "sparse, then auto": (sparse, "SET tile_format = 'auto'; " + cut),
        "dense": ("SET tile_format = 'dense'; ", cut),
        "without cells": (sparse, cut + "SET disabled_passes = 'cells'; "),
        "without passes": (sparse, cut + "SET disabled_passes = 'inlining,elementwise_fusion,chain_fusion,"
                           "common_subexpressions,selection_pushdown,early_summation'; "),
    }
    chosen = ["sparse tiles" if rng.random() < 0.6 else "sparse"]
    chosen += rng.sample([name for name in found if name not in chosen and not name.startswith("workers")], 2)
    chosen.append(rng.choice([name for name in found if name.startswith("workers")]))
    return {name: (before, after + f"SET parallelism = {rng.choice([1, 2, 4, 8, 16])};")
            for name, (before, after) in found.items() if name in chosen}


def agrees(found, expected, narrow):
    if found.shape != expected.shape:
        return False
    found, expected = (np.where(np.isnan(array), np.nan, array) for array in (found, expected))
    tolerance = 2e-5 if narrow else 1e-11
    whole = np.isfinite(expected) & (expected == np.round(expected))
    with np.errstate(all="ignore"):
        return np.allclose(found, expected, tolerance, tolerance, equal_nan=True) and np.allclose(
            found[whole], expected[whole], 2e-6 if narrow else 1e-14, 1e-6 if narrow else 1e-13)


def cells_of(path, shape):
    values = np.zeros(shape)
    with open(path, newline="") as file:
        for row in list(csv.reader(file))[1:]:
            key = tuple(map(int, row[:-1]))
            if values[key] != 0:
                return np.full(shape, np.nan)  # the key twice
            values[key] = float(row[-1])
    return values


def execute(script, seconds=None, at_workers=False):
    """Runs statements, on three workers of their own if so; the result, or None if they take too long."""
    with contextlib.ExitStack() as stack:
        options = []
        if at_workers:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            workers = [stack.enter_context(contextlib.closing(nodes.Worker(f"{folder}/{n}"))) for n in range(3)]
            options = ["--workers", ",".join(worker.address for worker in workers), "--secret-file", nodes.SECRET_FILE]
        try:
            return subprocess.run([EINDB, "--norc", *options], input=script, capture_output=True, text=True,
                                  timeout=seconds)
        except subprocess.TimeoutExpired:
            return None


def line_of(error):
    """Of a message that begins with the place of the statement, as stdin:12."""
    return int(error.split(":")[1])


class Counts:
    results = failed = 0
    cells = {}  # by mode


def report(text):
    Counts.failed += 1
    if Counts.failed < 30:
        print(text, flush=True)


def run_batch(seed, folder):
    rng = random.Random(seed)
    batch = Batch(rng, seed)
    load = []
    for tensor in batch.loads:
        np.save(f"{folder}/{tensor.name}.npy", tensor.loaded)
        load.append(f"COPY {tensor.name} FROM '{folder}/{tensor.name}.npy';")
        if tensor.kind == "BFLOAT16":
            load.append(f"ALTER TENSOR {tensor.name} TYPE BFLOAT16;")
    types = {}
    for mode, (before, after) in modes(batch, rng).items():
        script = [before, *load, after]
        for n, (text, _, _) in enumerate(batch.steps):
            if text.startswith("COPY (") and rng.random() < 0.3:
                script.append(f"EXPLAIN {text[len('COPY ('):-len(') TO @')]};")
            script.append(text.replace("@", f"'{folder}/r{n}.npy'").replace("#", f"'{folder}/r{n}.csv'") + ";")
        if "BEGIN" in after:
            script.append("COMMIT;")
        begun = time.monotonic()
        process = execute("\n".join(script), 6 * HANG_SECONDS, mode.startswith("workers"))
        seconds = time.monotonic() - begun
        if os.environ.get("EINDB_SPARSE_SCRIPTS"):
            with open(f"{os.environ['EINDB_SPARSE_SCRIPTS']}/{seed}_{mode.replace(' ', '_')}.sql", "w") as file:
                file.write("\n".join(script))
        if process is None or seconds > HANG_SECONDS:
            report(f"seed {seed}, {mode}: took {seconds:.0f} seconds")
        tolerated = False
        if process is not None and "memory limit: " in process.stderr and "memory_limit" in after:
            # Without cells it does not fit either.
            plain = execute("\n".join([before, *load, after + "SET disabled_passes = 'cells';", *script[len(load) + 2:]]),
                            None, mode.startswith("workers"))
            tolerated = "memory limit: " in plain.stderr and line_of(plain.stderr) <= line_of(process.stderr)
        if process is not None and process.returncode != 0 and not tolerated:
            report(f"seed {seed}, {mode}: exit status {process.returncode}: {process.stderr[-1500:]}")
        if process is not None:
            found = process.stdout.count("kernel: cells of")
            Counts.cells[mode] = Counts.cells.get(mode, 0) + found
            if found and mode == "without cells":
                report(f"seed {seed}, {mode}: computed from cells")
        reached = True
        for n, (text, expected, narrow) in enumerate(batch.steps):
            path = f"{folder}/r{n}.{'csv' if '#' in text else 'npy'}"
            reached = reached and os.path.exists(path)
            if not reached:
                continue
            Counts.results += 1
            found = cells_of(path, expected.shape) if "#" in text else np.load(path)
            if not agrees(found, expected, narrow):
                report(f"seed {seed}, {mode}, step {n}: {text}\n{difference(found, expected)}")
            if types.setdefault(n, found.dtype) != found.dtype:
                report(f"seed {seed}, {mode}, step {n}: {text}\nhas type {found.dtype}, not {types[n]}")
        for n in range(len(batch.steps)):
            for ending in ("csv", "npy"):
                if os.path.exists(f"{folder}/r{n}.{ending}"):
                    os.remove(f"{folder}/r{n}.{ending}")


def difference(found, expected):
    if found.shape != expected.shape:
        return f"shape {found.shape}, not {expected.shape}"
    with np.errstate(all="ignore"):
        wrong = ~(np.isclose(found, expected, 1e-6, 1e-9, equal_nan=True) | (np.isnan(found) & np.isnan(expected)))
    places = np.argwhere(wrong)[:5]
    return f"{wrong.sum()} of {wrong.size} cells differ: " + "; ".join(
        f"{tuple(place.tolist())} is {found[tuple(place)]}, not {expected[tuple(place)]}" for place in places)


def planned():
    """Statements that are computed from cells, and some that cannot be."""
    rows = ", ".join(f"({n * 37 % 1000}, {n * 101 % 900}, {n % 5 + 1})" for n in range(200))
    process = execute(f"""CREATE TENSOR X (i 1000, j 900); INSERT INTO TENSOR X VALUES {rows};
        CREATE TENSOR Y AS EINSUM Y[j,k] = SUM(X[k,j] * 2); CREATE TENSOR V AS EINSUM V[j 900] = j % 7;
        EXPLAIN EINSUM Z[i] = SUM(X[i,j]); EXPLAIN EINSUM Z[i] = MAX(X[i,j]); EXPLAIN EINSUM Z[i] = SUM(X[i,j] * V[j]);
        EXPLAIN EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k]); EXPLAIN EINSUM Z[] = SUM(X[i,j] * Y[j,k] * X[k,j]);
        EXPLAIN EINSUM Z[i,j] = X[i,j] - Y[j,i]; EXPLAIN EINSUM Z[i,j] = EXP(X[i,j]);
        EXPLAIN EINSUM Z[i,j] = X[i,j] + V[j]; SET disabled_passes = 'cells'; EXPLAIN EINSUM Z[i] = SUM(X[i,j]);""")
    plans = process.stdout.split("EinGraph ")[1:]
    found = ["kernel: cells of" in plan for plan in plans]
    if found != [True] * 6 + [False] * 3:
        report(f"computed from cells: {found}\n{process.stdout}\n{process.stderr}")


def huge():
    """Tensors of which there is no dense array."""
    rng = random.Random(5)
    for shape, count in (((12092, 9184, 28818), 100), ((10**9, 10**9), 50)):
        cells, more = {}, {}
        for into in (cells, more):
            while len(into) < count:
                into[tuple(rng.randrange(extent) for extent in shape)] = rng.choice([-2, -1, 1, 2, 3])
        first = next(iter(cells))
        for other in list(cells)[1:4]:  # some rows have several cells
            cells[first[:-1] + other[-1:]] = 4
        for key in list(cells)[:10]:  # some cells are those of both
            more[key] = 2
        own = ",".join("abc"[:len(shape)])
        rest = own[2:]
        dims = ", ".join(f"{label} {extent}" for label, extent in zip(own.split(","), shape))
        x, y = (", ".join(f"({', '.join(map(str, key))}, {value})" for key, value in into.items()) for into in (cells, more))
        firsts, products, both = {}, {}, dict(cells)
        for key, value in cells.items():
            firsts[key[0]] = firsts.get(key[0], 0) + value
            for other, factor in cells.items():
                if other[1:] == key[1:]:
                    products[key[0], other[0]] = products.get((key[0], other[0]), 0) + value * factor
        for key, value in more.items():
            both[key] = both.get(key, 0) + value
        load = f"CREATE TENSOR X ({dims}); CREATE TENSOR Y ({dims}); INSERT INTO TENSOR X VALUES {x}; " \
               f"INSERT INTO TENSOR Y VALUES {y}; "

        def expect(statement, query, value):
            for at_workers in (False, True):
                script = (WORKERS if at_workers else "") + f"{load}{statement}{query};"
                process = execute(script, HANG_SECONDS, at_workers)
                Counts.results += 1
                found = process.stdout.split("\n")[-2] if process is not None and process.returncode == 0 else None
                if found is None or float(found) != value:
                    report(f"{shape}{', workers' if at_workers else ''}: {statement}{query}\nexpected {value}, "
                           f"found {found} " + (f"in {HANG_SECONDS} seconds" if process is None else process.stderr))

        expect("", f"EINSUM Z[] = SUM(X[{own}])", sum(cells.values()))
        expect("", f"EINSUM Z[] = MAX(X[{own}])", max(cells.values()))
        expect("", f"EINSUM Z[] = COUNT_NONZERO(X[{own}])", len(cells))
        expect("", f"EINSUM Z[] = SUM(X[{own}] * X[{own}])", sum(value * value for value in cells.values()))
        expect("", f"EINSUM Z[] = SUM(X[{own}] * Y[{own}])", sum(value * more.get(key, 0) for key, value in cells.items()))
        expect("", f"EINSUM Z[] = SUM(ABS(X[{own}] - Y[{own}]))",
               sum(abs(cells.get(key, 0) - more.get(key, 0)) for key in both))
        for statement, name, labels, values in (
                (f"CREATE TENSOR A AS EINSUM Z[a] = SUM(X[{own}]); ", "A", "a", firsts),
                (f"CREATE TENSOR P AS EINSUM Z[a,z] = SUM(X[{own}] * X[z,{rest}]); ", "P", "a,z", products)):
            if name == "P" and len(shape) == 2:
                continue  # stored in 2^35 tiles, which takes too long
            expect(statement, f"EINSUM Z[] = SUM({name}[{labels}])", sum(values.values()))
            expect(statement, f"EINSUM Z[] = SUM({name}[{labels}] ^ 2)", sum(value * value for value in values.values()))
        for at_workers in (False, True):
            script = (WORKERS if at_workers else "") + f"{load} EINSUM Z[{own}] = EXP(X[{own}]);"
            process = execute(script, HANG_SECONDS, at_workers)
            if process is None or process.returncode != 1 or "hint" not in process.stderr:
                report(f"{shape}: EXP of it: {'took too long' if process is None else process.stderr}")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else BATCHES
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261128
    with tempfile.TemporaryDirectory() as folder:
        planned()
        huge()
        for n in range(count):
            run_batch(seed + n, folder)
    if count >= BATCHES:
        for kind in ("sparse", "auto", "workers"):
            if not any(found for mode, found in Counts.cells.items() if mode.startswith(kind)):
                report(f"no kernels of cells in modes {kind}: {Counts.cells}")
    print(f"{Counts.results} results, {sum(Counts.cells.values())} kernels of cells in plans, {Counts.failed} failed")
    return 1 if Counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
