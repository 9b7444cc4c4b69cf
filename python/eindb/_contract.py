"""contract and contract_expression, by the names and arguments of opt_einsum."""

from . import _eindb
from ._eindb import einsum
from ._paths import path_clause


def contract(
    *operands, out=None, dtype=None, order="K", casting="safe", optimize=True, memory_limit=None, backend="auto",
    use_blas=True,
):  # fmt: skip
    """einsum under the name and with the arguments of opt_einsum.contract.

    operands: as for einsum; labels of sublists may be whatever has a hash.
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
        operands = _with_letters(operands)
    return einsum(*operands, out=out, dtype=dtype, order=order, casting=casting, optimize=optimize)


def _with_letters(arguments):
    """Operands with sublists of any labels, as subscripts of Unicode's letters and operands."""
    letters = {}

    def letter(label):
        if label is Ellipsis:
            return "..."
        if label not in letters:
            letters[label] = chr(_LETTERS_FROM + len(letters))
        return letters[label]

    pairs = len(arguments) // 2
    terms = ["".join(map(letter, arguments[2 * n + 1])) for n in range(pairs)]
    subscripts = ",".join(terms)
    if len(arguments) % 2:
        subscripts += "->" + "".join(map(letter, arguments[-1]))
    else:
        # The labels that occur once, in their own order and not in that of the letters.
        every = "".join(terms).replace("...", "")
        once = sorted(label for label, name in letters.items() if every.count(name) == 1)
        subscripts += "->" + ("..." if "..." in subscripts else "") + "".join(letters[label] for label in once)
    return (subscripts, *arguments[: 2 * pairs : 2])


_LETTERS_FROM = 0x4E00  # twenty thousand letters that follow each other


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
    ranks = [len(getattr(shape, "shape", shape)) if n in constants else len(shape) for n, shape in enumerate(operands)]
    _eindb.resolve_equation(terms, output, ranks)
    if not isinstance(optimize, bool) and optimize is not None:
        path_clause(optimize, len(shapes))
    return ContractExpression(subscripts, shapes, constants, {"optimize": optimize, **keywords})
