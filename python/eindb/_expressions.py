"""Lazy expressions over labels: db['X'][i, j] * db['Y'][j, k], which become one statement."""

import decimal
import html
import math
import numbers

from ._arguments import bindable
from ._stored import check_name


class Expression:
    """What a statement will compute: cells of tensors under labels, combined by operators and aggregates.

    labels: those that are free, in the order in which they appear; each becomes a dimension of the result.
    Nothing is computed before compute(), or before it is stored: db['Z'] = expression. Then all of it is planned as one
    statement, in which common parts are computed once and products get the best order.
    """

    __slots__ = ("_arrays", "_database", "_parts", "labels")
    # Arrays of NumPy leave operators to this class.
    __array_ufunc__ = None

    def __init__(self, parts, labels, database=None, arrays=()):
        self._parts = tuple(parts)  # pieces of text, and positions in _arrays for names
        self._arrays = tuple(arrays)
        self._database = database
        self.labels = tuple(labels)

    # ---- Operators -----------------------------------------------------------------------------------------------

    def __add__(self, other):
        return _joined(self, "+", other)

    def __radd__(self, other):
        return _joined(other, "+", self)

    def __sub__(self, other):
        return _joined(self, "-", other)

    def __rsub__(self, other):
        return _joined(other, "-", self)

    def __mul__(self, other):
        return _joined(self, "*", other)

    def __rmul__(self, other):
        return _joined(other, "*", self)

    def __truediv__(self, other):
        return _joined(self, "/", other)

    def __rtruediv__(self, other):
        return _joined(other, "/", self)

    def __pow__(self, other):
        return _joined(self, "^", other)

    def __rpow__(self, other):
        return _joined(other, "^", self)

    def __neg__(self):
        return _call("", (_literal(-1), "*", self))

    def __abs__(self):
        return self.apply("ABS")

    def apply(self, function, *others):
        """A function of eindb's of this expression, and of others: x.apply('EXP'), x.apply('GREATEST', 0)."""
        arguments = [self]
        for other in others:
            arguments += [",", _expression(other)]
        return _call(check_name(function), arguments)

    # ---- Aggregates ----------------------------------------------------------------------------------------------

    def sum(self, *labels):
        """The sum over labels; over all of them if none is given."""
        return self._aggregate("SUM", labels)

    def mean(self, *labels):
        """The mean over labels, or over all."""
        return self._aggregate("MEAN", labels)

    def max(self, *labels):
        """The largest value over labels, or over all."""
        return self._aggregate("MAX", labels)

    def min(self, *labels):
        """The smallest value over labels, or over all."""
        return self._aggregate("MIN", labels)

    def prod(self, *labels):
        """The product over labels, or over all."""
        return self._aggregate("PROD", labels)

    def _aggregate(self, function, labels):
        names = [_label_name(label) for label in labels] or list(self.labels)
        for name in names:
            if name not in self.labels:
                raise ValueError(f"label {name} is not one of the expression's: {', '.join(self.labels) or 'none'}")
        if not names:
            return self
        made = _call(f"{function}[{','.join(names)}]", [self])
        made.labels = tuple(label for label in self.labels if label not in names)
        return made

    # ---- The statement -------------------------------------------------------------------------------------------

    def compute(self, *labels):
        """The array of the result. labels: all that are free, in the order of its dimensions; else as they appear.

        Raises ValueError for other labels, and the errors of a statement.
        """
        query, arrays = self._query("python_output", labels)
        return self._connection()._execute("EINSUM " + query, (), arrays, None).array()

    def explain(self, *labels, analyze=False):
        """The plan of the statement; arguments are those of compute and of Connection.explain."""
        query, arrays = self._query("python_output", labels)
        return self._connection().explain("EINSUM " + query, analyze=analyze, **arrays)

    def _query(self, name, labels=()):
        """The definition of a tensor of that name, and the arrays that it reads."""
        head = [_label_name(label) for label in labels] or list(self.labels)
        if sorted(head) != sorted(self.labels):
            raise ValueError(f"the result has the labels {', '.join(self.labels) or 'none'}, not {', '.join(head)}")
        return f"{name}[{','.join(head)}] = {self._text()}", {_array_name(n): a for n, a in enumerate(self._arrays)}

    def _text(self):
        return "".join(part if isinstance(part, str) else _array_name(part) for part in self._parts)

    def _connection(self):
        if self._database is None:
            from ._database import Connection

            return Connection(scope=False)
        return self._database

    def __repr__(self):
        return f"<eindb.Expression {self._text()}>"

    def _repr_html_(self):
        return f"<code>[{html.escape(', '.join(self.labels))}] = {html.escape(self._text())}</code>"

    def __bool__(self):
        raise TypeError("an expression has no truth value before it is computed")


class Label(Expression):
    """A label. Among indices it names a dimension; elsewhere its value is the position along it."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = check_name(name)
        super().__init__((name,), (name,))

    def __repr__(self):
        return self.name


def labels(names):
    """Labels by names with spaces or commas between them: i, j = eindb.labels('i j'). One name gives one label."""
    made = tuple(Label(name) for name in names.replace(",", " ").split())
    if not made:
        raise ValueError("there are no names of labels")
    return made[0] if len(made) == 1 else made


class Operand:
    """An array that expressions take under labels: eindb.operand(array)[i, j]. It is read where it lies."""

    def __init__(self, array):
        self._array = bindable(array)

    def __getitem__(self, indices):
        indices = indices if isinstance(indices, tuple) else (indices,)
        return indexed(0, indices, self._array.ndim, arrays=(self._array,))


def operand(array):
    """An array for expressions over labels: eindb.operand(A)[i, j] * db['X'][j, k]."""
    return Operand(array)


def has_labels(indices):
    """Whether one of the indices is a label."""
    indices = indices if isinstance(indices, tuple) else (indices,)
    return any(isinstance(index, Expression) for index in indices)


def indexed(name, indices, rank, database=None, arrays=()):
    """The cells of a tensor, by its name or the position of an array, under labels and numbers."""
    if len(indices) != rank:
        raise IndexError(f"{len(indices)} indices for a tensor of {rank} dimensions")
    parts, free = [], []
    for index in indices:
        if isinstance(index, Label):
            parts.append(index.name)
            free += [index.name] if index.name not in free else []
        elif isinstance(index, numbers.Integral):
            parts.append(str(int(index)))
        else:
            raise TypeError(f"an index beside labels is a label or an integer, not {index!r}")
    return Expression((name, "[" + ",".join(parts) + "]"), free, database, arrays)


def _array_name(position):
    return f"python_array_{position}"


def _label_name(label):
    if not isinstance(label, Label):
        raise TypeError(f"{label!r} is no label: eindb.labels makes them")
    return label.name


def _literal(number):
    if isinstance(number, (bool, numbers.Integral)):
        return Expression((f"({int(number)})",), ())
    if isinstance(number, (numbers.Real, decimal.Decimal)):
        if not math.isfinite(number):
            raise ValueError(f"{number} cannot stand in an expression")
        return Expression((f"({float(number)!r})",), ())
    return Expression((f"COMPLEX({number.real!r}, {number.imag!r})",), ())


def _expression(value):
    if isinstance(value, Expression):
        return value
    if isinstance(value, numbers.Number):
        return _literal(value)
    raise TypeError(f"{value!r} needs labels to stand in an expression: eindb.operand(array)[i, j]")


def _joined(left, operator, right):
    try:
        return _call("", (_expression(left), operator, _expression(right)))
    except TypeError:
        if isinstance(left, Expression) and isinstance(right, Expression):
            raise
        return NotImplemented


def _call(function, arguments):
    """Expressions with text between them, in parentheses; with the arrays of all of them, each once."""
    parts, free, arrays, database = [function, "("], [], [], None
    for argument in arguments:
        if isinstance(argument, str):
            parts.append(f" {argument} ")
            continue
        for part in argument._parts:
            parts.append(part if isinstance(part, str) else _position(argument._arrays[part], arrays))
        free += [label for label in argument.labels if label not in free]
        if argument._database is not None:
            if database not in (None, argument._database):
                raise ValueError("an expression reads the tensors of one connection")
            database = argument._database
    return Expression((*parts, ")"), free, database, arrays)


def _position(array, arrays):
    for position, known in enumerate(arrays):
        if known is array:
            return position
    arrays.append(array)
    return len(arrays) - 1
