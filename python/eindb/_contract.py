"""contract and contract_expression, by the names and arguments of opt_einsum, and what its backends have."""

import collections
import numbers

import numpy

from . import _eindb
from ._eindb import einsum
from ._paths import LETTERS_FROM, called_path, path_clause, with_letters


def contract(
    *operands, out=None, dtype=None, order="K", casting="safe", optimize=True, memory_limit=None, backend="auto",
    use_blas=True,
):  # fmt: skip
    """einsum under the name and with the arguments of opt_einsum.contract.

    operands: as for einsum; labels of sublists may be whatever has a hash.
    optimize: as for einsum, or an optimizer of opt_einsum or cotengra, whose path then is kept to.
    memory_limit, backend, use_blas: taken, and left to eindb, which has one backend and plans within its memory limit.
    Raises as einsum does.

        >>> eindb.contract('ij,j->i', [[1, 2], [3, 4]], [5, 6])
        array([17, 39])
        >>> eindb.contract([[1, 2], [3, 4]], ['row', 'column'], [5, 6], ['column'], ['row'])
        array([17, 39])
    """
    if backend not in ("auto", "numpy", "torch", "eindb"):
        raise ValueError(f"eindb has no backend {backend!r}")
    if operands and not isinstance(operands[0], str):
        operands = with_letters(operands)
    if callable(optimize):
        optimize = called_path(optimize, operands, memory_limit)
    return einsum(*operands, out=out, dtype=dtype, order=order, casting=casting, optimize=optimize)


def array_contract(arrays, inputs, output=None, optimize=True, cache_expression=True, backend=None):
    """The contraction of arrays, as cotengra.array_contract and quimb have it.

    inputs: for each array a sequence of its indices, of whatever has a hash.
    output: those of the result; else those that occur once, in the order in which they come.
    optimize: as for contract. cache_expression, backend: taken, and left to eindb, which keeps plans by itself.
    Raises as einsum does.

        >>> A, x = numpy.array([[1, 2], [3, 4]]), numpy.array([5, 6])
        >>> eindb.array_contract([A, x], [('row', 'col'), ('col',)])
        array([17, 39])
    """
    del cache_expression
    inputs = [tuple(term) for term in inputs]
    if len(arrays) != len(inputs):
        raise ValueError(f"{len(arrays)} arrays have {len(inputs)} inputs, and not one each")
    if output is None:
        counts = collections.Counter(index for term in inputs for index in term)
        output = [index for index, count in counts.items() if count == 1]
    operands = [part for pair in zip(arrays, inputs) for part in pair]
    return contract(*operands, tuple(output), optimize=optimize, backend=backend or "auto")


def tensordot(a, b, axes=2):
    """The sum of products over pairs of dimensions, as numpy.tensordot.

    axes: how many of the last dimensions of a meet the first of b; or two sequences of dimensions, of a and of b.
    With einsum and transpose this makes the package a backend of opt_einsum: contract(..., backend='eindb').

        >>> eindb.tensordot(numpy.ones((2, 3, 4)), numpy.ones((4, 3, 5)), axes=([1, 2], [1, 0])).shape
        (2, 5)
    """
    ranks = [len(x.shape) if hasattr(x, "shape") else numpy.ndim(x) for x in (a, b)]
    if isinstance(axes, numbers.Integral):
        if not 0 <= axes <= min(ranks):
            raise ValueError(f"{axes} dimensions cannot be summed of operands that have {ranks[0]} and {ranks[1]}")
        axes = (range(ranks[0] - axes, ranks[0]), range(axes))
    summed = [
        [_dimension(axis, rank) for axis in ([side] if isinstance(side, numbers.Integral) else side)]
        for side, rank in zip(axes, ranks)
    ]
    if len(summed[0]) != len(summed[1]) or any(len(set(side)) != len(side) for side in summed):
        raise ValueError("axes are as many dimensions of a as of b, each of them once")
    extents = [numpy.shape(x) if not hasattr(x, "shape") else tuple(x.shape) for x in (a, b)]
    for first, second in zip(*summed):
        if extents[0][first] != extents[1][second] and 1 not in (extents[0][first], extents[1][second]):
            raise ValueError(f"dimension {first} of a has extent {extents[0][first]}, but {second} of b {extents[1][second]}")
    left = [chr(LETTERS_FROM + n) for n in range(ranks[0])]
    right = [chr(LETTERS_FROM + ranks[0] + n) for n in range(ranks[1])]
    for first, second in zip(*summed):
        right[second] = left[first]
    output = [label for n, label in enumerate(left) if n not in summed[0]]
    output += [label for n, label in enumerate(right) if n not in summed[1]]
    return einsum(f"{''.join(left)},{''.join(right)}->{''.join(output)}", a, b)


def transpose(a, axes=None):
    """A view of an array with its dimensions in another order, as numpy.transpose; without axes in the reverse one.

    >>> eindb.transpose(numpy.ones((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    rank = len(a.shape) if hasattr(a, "shape") else numpy.ndim(a)
    order = list(reversed(range(rank))) if axes is None else [_dimension(axis, rank) for axis in axes]
    if sorted(order) != list(range(rank)):
        raise ValueError("axes do not name each dimension once")
    letters = [chr(LETTERS_FROM + n) for n in range(rank)]
    return einsum("".join(letters) + "->" + "".join(letters[n] for n in order), a)


def _dimension(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"there is no dimension {axis} of {rank}")
    return axis % rank


class ContractExpression:
    """A contraction that waits for arrays: what contract_expression returns. Call it with one array for each shape.

    Raises ValueError for another number of arrays, or of dimensions of one.
    """

    def __init__(self, subscripts, operands, constants, keywords):
        self.contraction = subscripts
        self._constants = {n: operands[n] for n in constants}
        self._ranks = [len(shape) for n, shape in enumerate(operands) if n not in self._constants]
        self._keywords = keywords

    def __call__(self, *arrays, out=None, backend=None, evaluate_constants=False):
        del backend, evaluate_constants  # eindb has one backend, and computes with constants each time
        if len(arrays) != len(self._ranks):
            raise ValueError(f"the expression takes {len(self._ranks)} arrays, and was called with {len(arrays)}")
        for number, (array, rank) in enumerate(zip(arrays, self._ranks)):
            if hasattr(array, "shape") and len(array.shape) != rank:
                raise ValueError(f"array {number} has {len(array.shape)} dimensions, and not {rank} as the expression")
        if self._constants:
            given = iter(arrays)
            total = len(self._ranks) + len(self._constants)
            arrays = [self._constants[n] if n in self._constants else next(given) for n in range(total)]
        return einsum(self.contraction, *arrays, out=out, **self._keywords)

    def __repr__(self):
        return f"<ContractExpression({self.contraction!r})>"


def contract_expression(subscripts, *shapes, constants=None, optimize=True, memory_limit=None, **keywords):
    """A contraction of arrays of these shapes, to be called again and again, as opt_einsum.contract_expression.

    constants: positions in `shapes` at which an array stands that is the same in each call.
    keywords: dtype, order and casting of einsum.
    Returns a ContractExpression. Raises ValueError for an equation that does not fit the shapes.

        >>> product = eindb.contract_expression('ij,jk->ik', (2, 3), (3, 2))
        >>> product(numpy.ones((2, 3)), numpy.ones((3, 2)))
        array([[3., 3.],
               [3., 3.]])
    """
    terms, output, operands = _eindb.read_equation((subscripts, *shapes))
    constants = tuple(constants or ())
    if any(not 0 <= n < len(shapes) for n in constants):
        raise ValueError("constants are positions of operands")
    given = [
        getattr(shape, "shape", None) or numpy.shape(shape) if n in constants else tuple(shape) for n, shape in enumerate(operands)
    ]
    terms, _ = _eindb.resolve_equation(terms, output, [len(shape) for shape in given])
    extents = {}
    for number, (term, shape) in enumerate(zip(terms, given)):
        for label, extent in zip(term, shape):
            if extents.setdefault(label, extent) == 1:
                extents[label] = extent
            if extent not in (1, extents[label]):
                raise ValueError(f"operand {number} has extent {extent} where others have {extents[label]}")
    if not isinstance(optimize, bool) and optimize is not None:
        path_clause(optimize, len(shapes))
    return ContractExpression(subscripts, shapes, constants, {"optimize": optimize, **keywords})
