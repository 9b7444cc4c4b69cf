"""Orders of contraction: what `optimize=` may be, einsum_path and contract_path."""

import numbers
import re
import string

import numpy

from . import _eindb
from ._operands import as_array
from ._planned_paths import planned_path

# NumPy's own function, whatever stands in its place later.
_numpy_einsum_path = numpy.einsum_path

_ASCII, _UNICODE = 128, 0x110000
LETTERS_FROM, _LETTERS_TO = 0x4E00, 0x9FA0  # twenty thousand letters that follow each other
_NUMPY_NAMES = {"greedy", "optimal"}
_OPT_EINSUM_NAMES = re.compile(
    r"auto|auto-hq|eager|opportunistic|dp|dynamic-programming|branch-(all|1|2)|random-greedy(-\d+)?"
)


def path_clause(optimize, count):
    """The clause USING PATH for `optimize`, with so many operands; "" where the planner chooses the order."""
    if isinstance(optimize, str):
        if optimize in _NUMPY_NAMES or _OPT_EINSUM_NAMES.fullmatch(optimize):
            return ""
        raise KeyError(f"there is no algorithm {optimize!r} for orders of contraction")
    if isinstance(optimize, tuple) and len(optimize) == 2 and isinstance(optimize[0], str):
        if optimize[0] != "einsum_path":
            return path_clause(optimize[0], count)  # with a limit of memory, which eindb has by itself
    try:
        steps = list(optimize)
    except TypeError as error:
        raise TypeError(f"optimize is a bool, the name of an algorithm or a path, not {optimize!r}") from error
    if steps and isinstance(steps[0], str) and steps[0] == "einsum_path":
        steps = steps[1:]
    return _clause(_checked_steps(steps, optimize), count)


def _checked_steps(steps, optimize):
    for step in steps:
        if not isinstance(step, (tuple, list)) or not all(isinstance(place, (int, numpy.integer)) for place in step):
            raise TypeError(f"did not understand the path: {optimize!r}")
    return [tuple(step) for step in steps]


def _clause(steps, count):
    """Steps of two and more as eindb's language has them. One operand taken alone only goes to the end of the list."""
    made = []
    left = list(range(count))  # what is left, in the order of this path
    ids = list(range(count))  # the same in the order in which the clause counts
    fresh = count
    for step in steps:
        if len(set(step)) != len(step) or not step or any(not 0 <= place < len(left) for place in step):
            raise ValueError(f"step {step} of the path takes what is not there: {len(left)} operands are left")
        taken = [left[place] for place in step]
        left = [name for name in left if name not in taken]
        if len(taken) == 1:
            left.append(taken[0])
            continue
        made.append(tuple(sorted(ids.index(name) for name in taken)))
        ids = [name for name in ids if name not in taken] + [fresh]
        left.append(fresh)
        fresh += 1
    if len(left) != 1:
        raise RuntimeError(f"the path leaves {len(left) - 1} more operands to be contracted")
    if count < 3:
        return ""
    return " USING PATH (" + ",".join("(" + ",".join(map(str, step)) + ")" for step in made) + ")"


def einsum_path(*operands, optimize="greedy"):
    """The order in which NumPy would contract the operands, and a report of what it costs, as numpy.einsum_path.

    optimize: "greedy", "optimal", a bool, one of these names with a limit of elements, or a path to be described.
    Returns (path, report); einsum takes the path as `optimize=`. Without it eindb's planner looks for an order itself.

        >>> A, B, C = numpy.ones((10, 20)), numpy.ones((20, 30)), numpy.ones((30, 2))
        >>> eindb.einsum_path('ij,jk,kl->il', A, B, C)[0]
        ['einsum_path', (1, 2), (0, 1)]
    """
    labels, output, shapes = _resolved(operands, shapes=False)
    if len({label for term in labels for label in term}) > len(string.ascii_letters):
        raise ValueError("NumPy has paths for up to 52 labels: contract_path has eindb's for any number")
    subscripts = spelt_equation(labels, output, _ASCII)
    # Arrays of these shapes that take no memory: only the shapes matter.
    return _numpy_einsum_path(subscripts, *(numpy.broadcast_to(0.0, shape) for shape in shapes), optimize=optimize)


class PathInfo:
    """What an order of contraction costs, with the attributes of opt_einsum's PathInfo.

    eq: the equation. size_dict: extents by label. naive_cost, opt_cost: operations of all labels in one nest of loops, and
    of the steps. scale_list, size_list: labels and elements of each step. contraction_list: (positions, labels summed,
    equation, what is left) of each step. str() is the report.
    """

    def __init__(self, path, terms, output, sizes):
        self.path = path
        self.input_subscripts, self.output_subscript = ",".join(terms), output
        self.eq = f"{self.input_subscripts}->{output}"
        self.size_dict = sizes
        self.indices = set("".join(terms))
        summed = sum(len(set(term)) for term in terms) > len(self.indices) or self.indices != set(output)
        self.naive_cost = _operations(self.indices, summed, len(terms), sizes)
        self.contraction_list, self.cost_list, self.scale_list, self.size_list = [], [], [], []
        self._follow(list(terms))
        self.opt_cost = sum(self.cost_list)
        self.speedup = self.naive_cost / max(1, self.opt_cost)
        self.largest_intermediate = max(self.size_list, default=1)

    def _follow(self, left):
        for number, step in enumerate(self.path):
            taken = [left.pop(place) for place in sorted(step, reverse=True)]
            involved = set("".join(taken))
            kept = involved & set("".join(left) + self.output_subscript)
            last = number + 1 == len(self.path)
            made = self.output_subscript if last else "".join(sorted(kept, key=lambda label: (self.size_dict[label], label)))
            left.append(made)
            self.cost_list.append(_operations(involved, involved != kept, len(taken), self.size_dict))
            self.scale_list.append(len(involved))
            self.size_list.append(_elements(made, self.size_dict))
            equation = ",".join(taken) + "->" + made
            self.contraction_list.append((tuple(step), involved - kept, equation, tuple(left)))

    def __str__(self):
        lines = [
            f"  Complete contraction:  {self.eq}",
            f"         Naive scaling:  {len(self.indices)}",
            f"     Optimized scaling:  {max(self.scale_list, default=0)}",
            f"      Naive FLOP count:  {self.naive_cost:.3e}",
            f"  Optimized FLOP count:  {self.opt_cost:.3e}",
            f"   Theoretical speedup:  {self.speedup:.3f}",
            f"  Largest intermediate:  {self.largest_intermediate:.3e} elements",
            "-" * 74,
            f"{'scaling':>6} {'current':>24} {'remaining':>40}",
            "-" * 74,
        ]
        for scaling, (_, _, equation, left) in zip(self.scale_list, self.contraction_list):
            lines.append(f"{scaling:4d}    {equation:>24} {','.join(left) + '->' + self.output_subscript:>40}")
        return "\n".join(lines)

    __repr__ = __str__


def _elements(labels, sizes):
    elements = 1
    for label in labels:
        elements *= sizes[label]
    return elements


def _operations(labels, summed, factors, sizes):
    return _elements(labels, sizes) * (max(1, factors - 1) + bool(summed))


def contract_path(*operands, optimize="auto", memory_limit=None, shapes=False):
    """The order in which eindb contracts the operands, and what it costs, as opt_einsum.contract_path.

    operands: as for contract; with shapes=True their shapes in the place of arrays.
    optimize: as for contract; by itself the order that einsum takes, of any number of operands. "greedy", "optimal" and the
        names of opt_einsum are eindb's algorithms that are nearest to them.
    memory_limit: taken, and left to eindb, which computes in slices what does not fit.
    Returns (path, info): a list of tuples of positions, and a PathInfo.

        >>> path, info = eindb.contract_path('ij,jk,kl->il', (10, 20), (20, 30), (30, 2), shapes=True)
        >>> path, info.opt_cost, info.largest_intermediate
        ([(1, 2), (0, 1)], 3200, 40)
    """
    if operands and not isinstance(operands[0], str) and not all(map(_are_numbers, operands[1::2])):
        operands = with_letters(operands)
    labels, output, dimensions = _resolved(operands, shapes)
    equation = spelt_equation(labels, output)
    terms, output_term = equation.split("->")[0].split(","), equation.split("->")[1]
    sizes = extents_of(terms, dimensions)
    if isinstance(optimize, str) or optimize is True:
        name = "auto" if optimize is True else optimize
        path_clause(name, len(terms))  # refuses what is no algorithm's name
        path = planned_path(labels, output, dimensions, name)
    elif callable(optimize):
        path = _path_of(optimize, terms, output_term, sizes, memory_limit)
    elif optimize is False or optimize is None:
        path = [tuple(range(len(terms)))]
    else:
        path_clause(optimize, len(terms))  # refuses what is no path
        path = [tuple(step) for step in optimize if step != "einsum_path"]
    return path, PathInfo(path, terms, output_term, sizes)


def called_path(optimizer, operands, memory_limit):
    """The path that an optimizer of opt_einsum's kind has for a call of einsum."""
    labels, output, dimensions = _resolved(operands, shapes=False)
    terms, output_term = spelt_equation(labels, output).split("->")
    terms = terms.split(",")
    return _path_of(optimizer, terms, output_term, extents_of(terms, dimensions), memory_limit)


def _path_of(optimizer, terms, output, sizes, memory_limit):
    # As opt_einsum does: nobody is asked where there is one order.
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    path = [tuple(step) for step in optimizer([set(term) for term in terms], set(output), sizes, memory_limit)]
    path_clause(path, len(terms))  # refuses what is no path
    return path


def extents_of(terms, shapes):
    """The extents of labels, by the terms of operands of these shapes; ValueError where they do not fit."""
    sizes = {}
    for number, (term, shape) in enumerate(zip(terms, shapes)):
        for label, extent in zip(term, shape):
            known = sizes.setdefault(label, extent)
            if known == 1:
                sizes[label] = extent
            elif extent not in (1, known):
                raise ValueError(f"operands could not be broadcast together: {extent} in operand {number}, {known} before")
    return sizes


def _resolved(arguments, shapes):
    """The terms and the output of a call, without ellipses, and the shapes of its operands."""
    terms, output, operands = _eindb.read_equation(tuple(arguments))
    dimensions = [tuple(operand) if shapes else _shape(operand) for operand in operands]
    terms, output = _eindb.resolve_equation(terms, output, [len(shape) for shape in dimensions])
    return terms, output, dimensions


def _are_numbers(sublist):
    """Whether einsum has a letter for each label of a sublist."""
    return all(label is Ellipsis or (isinstance(label, numbers.Integral) and 0 <= label < 52) for label in sublist)


def with_letters(arguments):
    """Operands with sublists of any labels, as subscripts of Unicode's letters and operands."""
    letters = {}

    def letter(label):
        if label is Ellipsis:
            return "..."
        if label not in letters:
            letters[label] = chr(LETTERS_FROM + len(letters))
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


def _shape(operand):
    return tuple(operand.shape) if hasattr(operand, "shape") else as_array(operand).shape


def spelt_equation(terms, output, limit=_UNICODE):
    """Subscripts in letters for terms of labels, which are numbers; letters from `limit` on get others."""
    letters = _letters({label for term in terms for label in term}, limit)
    spelt = ["".join(letters[label] for label in term) for term in (*terms, output)]
    return ",".join(spelt[:-1]) + "->" + spelt[-1]


def _letters(labels, limit):
    """Letters below a limit keep themselves, numbers of sublists become letters, all others get one that is free."""
    names = {}
    for label in labels:
        if label < 52:
            names[label] = string.ascii_letters[label]
        elif label < limit:
            names[label] = chr(label)
    used = set(names.values())
    free = (letter for letter in [*string.ascii_letters, *map(chr, range(LETTERS_FROM, _LETTERS_TO))] if letter not in used)
    for label in sorted(labels - names.keys()):
        names[label] = next(free)
    return names
