#!/usr/bin/python3
"""Compares the element types of expressions with NumPy, for random statements over INT64, FLOAT32 and FLOAT64 tensors.

docs/language.md defines the type in which every operation computes. This file implements the same rules in NumPy, and
shares no code with eindb. Integers reach the ends of INT64, where they wrap, and 2^53 and 2^24, where floating point
becomes inexact. Floating-point values include infinities and NaN. Results must have the right type and the right bits,
except for sums of floating-point values, whose order is not fixed.

EINDB_TYPE_STATEMENTS sets the number of statements, EINDB_TYPE_SEED the seed of the first one. With
EINDB_TYPE_WORKERS=3 three workers store the tensors and run the statements.
"""
import contextlib
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

STATEMENTS = int(os.environ.get("EINDB_TYPE_STATEMENTS", "3000"))
SEED = int(os.environ.get("EINDB_TYPE_SEED", "17"))
WORKERS = int(os.environ.get("EINDB_TYPE_WORKERS", "0"))
EXTENTS = {"i": 5, "j": 3, "k": 4}
LABELS = list(EXTENTS)
I8, F4, F8 = np.dtype(np.int64), np.dtype(np.float32), np.dtype(np.float64)
NAMES = {I8: "INT64", F4: "FLOAT32", F8: "FLOAT64"}
PASSES = ["selection_pushdown", "constant_folding", "common_subexpressions", "early_summation", "common_parts",
          "elementwise_fusion", "dead_vertices", "chain_fusion"]
WHOLE = [0, 1, -1, 2, 3, 7, -7, 10, 2**24, 2**24 + 1, 2**53, 2**53 + 1, -2**53 - 1, 2**62, 1234567890123456789,
         1234567890123456788, 2**63 - 1, -2**63, -2**63 + 1]
REAL = [0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.5, -2.25, 3.0, 1e10, -1e10, 2.0**24, 2.0**53, 9.2e18, np.inf, -np.inf, np.nan]


class Type:
    """An element type. A weak type adapts to the other operand's type; a definite one, that of stored integers of at
    most 16 bits, is itself where it meets no other."""

    def __init__(self, dtype, weak=False, definite=False):
        self.dtype, self.weak, self.definite = np.dtype(dtype), weak, definite

    def meets(self, other):
        if self.weak == other.weak:
            return Type(np.promote_types(self.dtype, other.dtype), self.weak, self.definite or other.definite)
        strong, weak = (other, self) if self.weak else (self, other)
        return Type(F8 if weak.dtype == F8 and strong.dtype == I8 else strong.dtype)

    def floating(self):
        return Type(F8 if self.dtype == I8 else self.dtype, self.weak, self.definite)

    def alone(self):
        """The type of the result if no other type is involved, which is FLOAT64 for a weak type."""
        return F8 if self.weak and not self.definite else self.dtype


TRUTH = Type(I8, weak=True)


class Node:
    """A node of an expression. A node of a weak type adapts to the type `wanted`."""

    def array(self, wanted):
        """The value in the node's own type."""
        own = self.type()
        if not own.weak:
            return self.compute(own.dtype)
        # Weak integers are computed in INT64 for INT64. Other weak values are computed in FLOAT64 first.
        if own.dtype == I8 and wanted == I8:
            return self.compute(I8)
        return self.compute(F8)

    def value(self, dtype):
        """The value as an operand of an operation in `dtype`."""
        return self.array(dtype).astype(dtype)


class Tensor(Node):
    def __init__(self, name, labels, values):
        self.name, self.labels, self.values = name, labels, values

    def type(self):
        stored = self.values.dtype
        if stored == np.float16:
            return Type(F4)
        if stored.kind in "biu":
            small = stored.itemsize <= 2
            return Type(I8, weak=small, definite=small)
        return Type(stored)

    def compute(self, dtype):
        shape = [EXTENTS[l] if l in self.labels else 1 for l in LABELS]
        order = sorted(self.labels, key=LABELS.index)
        values = self.values.astype(dtype if self.type().weak else self.type().dtype)
        return values.transpose([self.labels.index(l) for l in order]).reshape(shape)

    def text(self):
        return f"{self.name}[{','.join(self.labels)}]"


class Number(Node):
    def __init__(self, number):
        self.number = number

    def type(self):
        return Type(F8 if isinstance(self.number, float) else I8, weak=True)

    def value(self, dtype):
        return np.full([1] * len(LABELS), self.number).astype(dtype)

    def compute(self, dtype):
        return self.value(dtype)

    def text(self):
        return f"({self.number})" if self.number < 0 else str(self.number)


class LabelValue(Node):
    def __init__(self, label):
        self.label = label

    def type(self):
        return TRUTH

    def compute(self, dtype):
        shape = [EXTENTS[l] if l == self.label else 1 for l in LABELS]
        return np.arange(EXTENTS[self.label]).reshape(shape).astype(dtype)

    def text(self):
        return self.label


def least(a, b):
    return np.where(np.isnan(a), a, np.where(np.isnan(b) | (b < a), b, a))


def greatest(a, b):
    return np.where(np.isnan(a), a, np.where(np.isnan(b) | (a < b), b, a))


INFIX = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "%": np.remainder}
CALLS = {"LEAST": least, "GREATEST": greatest}
COMPARISONS = {"=": np.equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
               ">=": np.greater_equal}


class Binary(Node):
    def __init__(self, op, a, b):
        self.op, self.a, self.b = op, a, b

    def type(self):
        met = self.a.type().meets(self.b.type())
        return met.floating() if self.op == "/" else met

    def compute(self, dtype):
        function = INFIX.get(self.op) or CALLS[self.op]
        return function(self.a.value(dtype), self.b.value(dtype)).astype(dtype)

    def text(self):
        if self.op in CALLS:
            return f"{self.op}({self.a.text()}, {self.b.text()})"
        left = self.a.text()
        # Chains are left-associative, so the left operand needs no parentheses.
        if isinstance(self.a, Binary) and self.a.op == self.op and left.startswith("(") and self.op in "+*":
            left = left[1:-1]
        return f"({left} {self.op} {self.b.text()})"


class Comparison(Node):
    def __init__(self, op, a, b):
        self.op, self.a, self.b = op, a, b

    def type(self):
        return TRUTH

    def compute(self, dtype):
        met = self.a.type().meets(self.b.type())
        both = met.alone()
        return COMPARISONS[self.op](self.a.value(both), self.b.value(both)).astype(dtype)

    def text(self):
        return f"({self.a.text()} {self.op} {self.b.text()})"


class Logic(Node):
    def __init__(self, op, *arguments):
        self.op, self.arguments = op, arguments

    def type(self):
        return TRUTH

    def compute(self, dtype):
        truths = [a.value(a.type().alone()) != 0 for a in self.arguments]
        if self.op == "NOT":
            return (~truths[0]).astype(dtype)
        return (np.logical_and if self.op == "AND" else np.logical_or)(*truths).astype(dtype)

    def text(self):
        if self.op == "NOT":
            return f"(NOT {self.arguments[0].text()})"
        return f"({self.arguments[0].text()} {self.op} {self.arguments[1].text()})"


class Case(Node):
    def __init__(self, when, then, otherwise):
        self.when, self.then, self.otherwise = when, then, otherwise

    def type(self):
        return self.then.type().meets(self.otherwise.type())

    def compute(self, dtype):
        when = self.when.value(self.when.type().alone()) != 0
        return np.where(when, self.then.value(dtype), self.otherwise.value(dtype))

    def text(self):
        return f"CASE WHEN {self.when.text()} THEN {self.then.text()} ELSE {self.otherwise.text()} END"


def relu(a):
    return greatest(a, np.zeros_like(a))


UNARY = {"-": np.negative, "ABS": np.abs, "SIGN": np.sign, "RELU": relu, "FLOOR": np.floor, "SQRT": np.sqrt,
         "SQUARE": np.square}


class Unary(Node):
    def __init__(self, op, a):
        self.op, self.a = op, a

    def type(self):
        return self.a.type().floating() if self.op == "SQRT" else self.a.type()

    def compute(self, dtype):
        a = self.a.value(dtype)
        return a if self.op == "FLOOR" and dtype == I8 else UNARY[self.op](a).astype(dtype)

    def text(self):
        if self.op == "SQUARE":
            return f"({self.a.text()} ^ 2)"
        return f"(-{self.a.text()})" if self.op == "-" else f"{self.op}({self.a.text()})"


class Cast(Node):
    def __init__(self, a, dtype):
        self.a, self.dtype = a, dtype

    def type(self):
        return Type(self.dtype)

    def compute(self, dtype):
        return self.a.value(self.a.type().alone()).astype(self.dtype)

    def text(self):
        return f"CAST({self.a.text()} AS {NAMES[self.dtype]})"


class Definition(Node):
    """A definition of WITH. A weak body has the type that it has on its own."""

    def __init__(self, name, body):
        self.name, self.body = name, body
        self.labels = free_labels(body)

    def type(self):
        return Type(self.body.type().alone())

    def compute(self, dtype):
        return self.body.value(dtype)

    def text(self):
        return f"{self.name}[{','.join(self.labels)}]"

    def definition(self):
        return f"{self.text()} = {self.body.text()}"


class Aggregate(Node):
    def __init__(self, op, over, a):
        self.op, self.over, self.a = op, over, a

    def type(self):
        if self.op in ("COUNT_NONZERO", "ARGMAX", "ARGMIN"):
            return Type(I8)
        if self.op in ("ANY", "ALL"):
            return TRUTH
        own = self.a.type()
        if own.definite:
            own = Type(own.dtype)
        return own.floating() if self.op == "MEAN" else own

    def spread(self, values):
        """Broadcasts values to the extents of the aggregated labels."""
        shape = [EXTENTS[l] if l in self.over else n for l, n in zip(LABELS, values.shape)]
        return np.broadcast_to(values, shape)

    def axes(self):
        return tuple(LABELS.index(l) for l in self.over)

    def compute(self, dtype):
        own = self.a.type()
        values = self.spread(self.a.value(own.alone()))
        axes = self.axes()
        if self.op == "COUNT_NONZERO":
            return np.count_nonzero(values, axis=axes, keepdims=True).astype(dtype)
        if self.op in ("ANY", "ALL"):
            return (np.any if self.op == "ANY" else np.all)(values != 0, axis=axes, keepdims=True).astype(dtype)
        if self.op in ("ARGMAX", "ARGMIN"):
            return (np.argmax if self.op == "ARGMAX" else np.argmin)(values, axis=axes[0], keepdims=True).astype(dtype)
        if self.op in ("MIN", "MAX"):
            return (np.min if self.op == "MIN" else np.max)(values, axis=axes, keepdims=True).astype(dtype)
        # FLOAT32 is summed in FLOAT64.
        wide = F8 if values.dtype == F4 else values.dtype
        total = values.sum(axis=axes, keepdims=True, dtype=wide).astype(values.dtype)
        if self.op == "SUM":
            return total.astype(dtype)
        count = np.array(int(np.prod([EXTENTS[l] for l in self.over]))).astype(dtype)
        return total.astype(dtype) / count

    def text(self):
        return f"{self.op}[{','.join(self.over)}]({self.a.text()})"


def children(node):
    for value in vars(node).values():
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (v for v in value if isinstance(v, Node))


def nodes(node):
    yield node
    for child in children(node):
        yield from nodes(child)


def magnitudes(node):
    """The magnitudes to which rounding errors are proportional: absolute values, and for sums and differences the sums
    of the operands' magnitudes."""
    if isinstance(node, Definition):
        return magnitudes(node.body)
    if isinstance(node, Binary) and node.op in "+-":
        return magnitudes(node.a) + magnitudes(node.b)
    if isinstance(node, Binary) and node.op == "*":
        return magnitudes(node.a) * magnitudes(node.b)
    return np.abs(node.value(F8))


def free_labels(node):
    if isinstance(node, (Tensor, Definition)):
        return list(node.labels)
    if isinstance(node, LabelValue):
        return [node.label]
    found = {l for child in children(node) for l in free_labels(child)}
    if isinstance(node, Aggregate):
        found -= set(node.over)
    return [l for l in LABELS if l in found]


class Generator:
    def __init__(self, seed, tensors):
        self.random, self.tensors, self.definitions = random.Random(seed), tensors, []

    def leaf(self):
        r = self.random
        choice = r.randrange(10)
        if choice < 7:
            name, values = r.choice(self.tensors)
            return Tensor(name, r.sample(LABELS, values.ndim), values)
        if choice == 7:
            return LabelValue(r.choice(LABELS))
        return Number(r.choice([0, 1, 2, 3, 10, 1000, -3, 2**53 + 1, 1234567890123456789, 0.5, 2.5, 0.1, 1e300]))

    def leaf_that_fits(self):
        while True:
            leaf = self.leaf()
            if not isinstance(leaf, Tensor) or self.fits(leaf):
                return leaf

    @staticmethod
    def fits(tensor):
        return all(EXTENTS[l] == n for l, n in zip(tensor.labels, tensor.values.shape))

    def condition(self, depth):
        r = self.random
        if depth > 1 and r.random() < 0.2:
            return Logic(r.choice(["AND", "OR"]), self.condition(depth - 1), self.expression(depth - 2))
        if r.random() < 0.1:
            return Logic("NOT", self.expression(depth - 1))
        return Comparison(r.choice(list(COMPARISONS)), self.expression(depth - 1), self.expression(depth - 1))

    def expression(self, depth):
        r = self.random
        if depth <= 0 or r.random() < 0.15:
            return self.leaf_that_fits()
        choice = r.randrange(20)
        if choice < 10:
            node = Binary(r.choice(["+", "+", "-", "*", "*", "/", "%", "%", "LEAST", "GREATEST"]),
                          self.expression(depth - 1), self.expression(depth - 1))
        elif choice < 12:
            node = self.condition(depth)
        elif choice < 15:
            node = Case(self.condition(depth), self.expression(depth - 1), self.expression(depth - 1))
        elif choice < 18:
            node = Unary(r.choice(list(UNARY)), self.expression(depth - 1))
        else:
            node = self.cast(self.expression(depth - 1))
        if r.random() < 0.15 and not isinstance(node, Definition):
            node = Definition(f"W{len(self.definitions)}", node)
            self.definitions.append(node)
        return node

    def cast(self, node):
        # Only INT64 is cast to INT64, since others may be out of range, and only if it is not weak.
        to = self.random.choice([F4, F8, I8] if node.type().dtype == I8 and not node.type().weak else [F4, F8])
        return Cast(node, to)

    def statement(self):
        r = self.random
        self.definitions = []
        choice = r.randrange(10)
        argument = self.expression(r.randrange(1, 5))
        # Only tensors give labels their extents.
        bound = sorted({l for n in nodes(argument) if isinstance(n, Tensor) for l in n.labels}, key=LABELS.index)
        if choice < 6 or not bound:
            return argument
        over = sorted(r.sample(bound, r.randrange(1, min(2, len(bound)) + 1)), key=LABELS.index)
        op = r.choice(["SUM", "SUM", "SUM", "MIN", "MAX", "COUNT_NONZERO", "MEAN", "ANY", "ALL", "ARGMAX", "ARGMIN"])
        if op.startswith("ARG"):
            over = over[:1]
        aggregate = Aggregate(op, over, argument)
        if choice < 9 or op in ("SUM", "MEAN"):
            return aggregate
        return Binary(r.choice(["+", "-", "*"]), aggregate, self.outer(over))

    def outer(self, over):
        """A leaf without the aggregated labels, which would be different labels outside of the aggregate."""
        while True:
            leaf = self.leaf_that_fits()
            if not set(free_labels(leaf)) & set(over):
                return leaf


def make_tensors(rng):
    def of(dtype, shape):
        values = WHOLE if dtype == I8 else REAL
        return rng.choice(np.array(values, dtype=dtype), shape)

    shapes = [(5,), (3,), (5, 3), (3, 4), (4,)]
    out = []
    for dtype, letter in ((I8, "n"), (F4, "f"), (F8, "x")):
        for number, shape in enumerate(shapes):
            out.append((f"{letter}{number}", of(dtype, shape)))
    # Moderate values, so that not all results become NaN.
    out += [("small", rng.integers(-4, 5, (5, 3))), ("tame", rng.integers(-8, 9, (5, 3)) / 4),
            ("single", (rng.integers(-8, 9, (3, 4)) / 4).astype(F4))]
    for stored in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):
        limits = np.iinfo(stored)
        values = np.array([0, 1, 2, 3, 7, limits.min, limits.max, limits.max // 2 + 1, limits.min + 1], dtype=stored)
        out += [(f"{stored}_{number}", rng.choice(values, shape)) for number, shape in enumerate(shapes[1:4])]
    out += [(f"bool_{number}", rng.random(shape) < 0.5) for number, shape in enumerate(shapes)]
    out += [(f"half_{number}", rng.choice(np.array([0, -0.0, 1, 0.1, 65504, 6e-8, np.inf, np.nan], np.float16), shape))
            for number, shape in enumerate(shapes[:3])]
    return out


def settings(r):
    out = f"SET threads = {r.randrange(1, 3)}; SET parallelism = {r.choice([1, 2, 8])};"
    disabled = [p for p in PASSES if r.random() < 0.5] if r.random() < 0.5 else []
    return out + f" SET disabled_passes = '{','.join(disabled)}';"


class Statement:
    def __init__(self, seed, tensors, path):
        generator = Generator(seed, tensors)
        self.node = generator.statement()
        used = [n for n in nodes(self.node) if isinstance(n, Definition)]
        definitions = [d for d in generator.definitions if d in used]
        self.labels = free_labels(self.node)
        with_clause = "WITH " + ", ".join(with_extents(d) for d in definitions) + " " if definitions else ""
        head = ",".join(f"{l} {EXTENTS[l]}" for l in self.labels)
        self.query = f"{with_clause}EINSUM Z[{head}] = {self.node.text()}"
        self.path = path
        self.text = f"{settings(generator.random)} COPY ({self.query}) TO '{path}';"

    def expected(self):
        with np.errstate(all="ignore"):
            dtype = self.node.type().alone()
            value = self.node.value(dtype)
        shape = [EXTENTS[l] for l in self.labels]
        return np.broadcast_to(value, [EXTENTS[l] if l in self.labels else 1 for l in LABELS]).reshape(shape)

    def is_sum(self):
        return isinstance(self.node, Aggregate) and self.node.op in ("SUM", "MEAN")

    def same(self, found, expected):
        """Whether values agree. Sums of floating-point values may have another order, or be sums of parts:
        docs/language.md, Rewrites."""
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        single = any(n.type().dtype == F4 for n in nodes(self.node))
        # Factors of a product of several may be multiplied in another order.
        if sum(isinstance(n, Binary) and n.op in "*/" for n in nodes(self.node)) > 1 and expected.dtype != I8:
            same |= np.abs(found - expected) <= np.abs(expected) * (1e-6 if single else 1e-14)
        if expected.dtype == I8 or not self.is_sum():
            return same
        magnitude = self.node.spread(magnitudes(self.node.a)).sum(axis=self.node.axes(), keepdims=True)
        magnitude = np.broadcast_to(magnitude, [EXTENTS[l] if l in self.labels else 1 for l in LABELS])
        magnitude = magnitude.reshape(expected.shape)
        close = np.abs(found - expected) <= magnitude * (1e-6 if single else 1e-13)
        overflows = ~(magnitude < (1e30 if single else 1e290)) & (~np.isfinite(found) | ~np.isfinite(expected))
        return same | close | overflows

    def problem(self):
        if not os.path.exists(self.path):
            return "no result"
        found, expected = np.load(self.path), self.expected()
        if found.dtype != expected.dtype or found.shape != expected.shape:
            return f"got {found.dtype}{found.shape}, NumPy says {expected.dtype}{expected.shape}"
        with np.errstate(all="ignore"):
            same = self.same(found, expected)
        if same.all():
            return None
        place = tuple(np.argwhere(~same)[0])
        return f"cell {place} is {found[place]!r}, NumPy says {expected[place]!r}"


def with_extents(definition):
    head = ",".join(f"{l} {EXTENTS[l]}" for l in definition.labels)
    return f"{definition.name}[{head}] = {definition.body.text()}"


@contextlib.contextmanager
def database(eindb, folder):
    """The arguments of a program that opens a database, in memory, or on workers until the end of the block."""
    workers = []
    try:
        for n in range(WORKERS):
            command = [eindb, "worker", "--listen", "127.0.0.1:0", "--data", f"{folder}/w{n}", "--insecure"]
            workers.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        ports = [worker.stdout.readline().split()[-1] for worker in workers]
        addresses = ",".join(f"127.0.0.1:{port}" for port in ports)
        yield [f"{folder}/my.db", "--insecure", "--workers", addresses] if workers else [":memory:"]
    finally:
        for worker in workers:
            worker.terminate()
            worker.communicate()


def main():
    eindb = os.path.abspath(sys.argv[1])
    tensors = make_tensors(np.random.default_rng(SEED))
    with tempfile.TemporaryDirectory() as folder:
        script = ["SET small_statements = 'workers';"] if WORKERS else []
        for name, values in tensors:
            np.save(f"{folder}/{name}.npy", values)
            script.append(f"COPY {name} FROM '{folder}/{name}.npy';")
            script.append(f"ALTER TENSOR {name} PARTITION ({','.join('2' for _ in values.shape)});")
        statements = [Statement(SEED * 1000003 + n, tensors, f"{folder}/{n}z.npy") for n in range(STATEMENTS)]
        script += [s.text for s in statements]
        with open(f"{folder}/script.sql", "w") as file:
            file.write("\n".join(script))
        with database(eindb, folder) as arguments:
            done = subprocess.run([eindb, *arguments, "-f", f"{folder}/script.sql"], capture_output=True, text=True)
        failed = 0
        for statement in statements:
            problem = statement.problem()
            if problem:
                failed += 1
                if failed <= 10:
                    print(f"FAILED {statement.text}\n  {problem}")
        if done.returncode != 0:
            failed += 1
            print(f"exit status {done.returncode}: {done.stderr[:2000]}")
    print(f"{STATEMENTS} statements held against NumPy, {failed} failed")
    print(f"reliability random_types{'_on_workers' * (WORKERS > 0)} tries={STATEMENTS} failed={failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
