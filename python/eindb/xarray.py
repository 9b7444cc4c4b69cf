"""Einsums of xarray's arrays by the names of their dimensions. `import eindb.xarray` adds the accessor `eindb` to them.

    ds.eindb.einsum('temperature, weight -> city')
    da.eindb.einsum(weight, to='city')
"""
import numpy as np
import xarray

from . import connect
from . import einsum as _einsum

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_AGGREGATES = ("SUM", "PROD", "MIN", "MAX", "LOGSUMEXP", "AVG")


def _names_in(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def _dimensions_of(to):
    names = _names_in(to) if isinstance(to, str) else list(to)
    if len(set(names)) < len(names):
        raise ValueError(f"a dimension is given twice: {', '.join(map(str, names))}")
    return names


def _computed(arrays, dims, aggregate, join):
    """The values of an einsum of DataArrays that has these dimensions."""
    if aggregate not in _AGGREGATES:
        raise ValueError(f"aggregate is one of {', '.join(_AGGREGATES)}, not {aggregate!r}")
    if join not in ("*", "+"):
        raise ValueError(f"join is '*' or '+', not {join!r}")
    known = list(dict.fromkeys(dim for array in arrays for dim in array.dims))
    for dim in dims:
        if dim not in known:
            raise ValueError(f"no operand has the dimension {dim!r}; there are {', '.join(map(str, known))}")
    if len(known) > len(_LETTERS):
        raise ValueError(f"an einsum has at most {len(_LETTERS)} dimensions, not {len(known)}")
    letter = dict(zip(known, _LETTERS))
    subscripts = [[letter[dim] for dim in array.dims] for array in arrays]
    wanted = [letter[dim] for dim in dims]
    values = [np.asarray(array.values) for array in arrays]
    if (aggregate, join) == ("SUM", "*"):
        return _einsum(",".join(map("".join, subscripts)) + "->" + "".join(wanted), *values)
    tensors = {f"X{n}": value for n, value in enumerate(values)}
    body = f" {join} ".join(f"X{n}[{','.join(labels)}]" for n, labels in enumerate(subscripts))
    if len(wanted) < len(known):
        body = f"{aggregate}({body})"
    with connect() as db:
        return db.einsum(f"Z[{','.join(wanted)}] = {body}", **tensors)


def _result(arrays, dims, aggregate, join):
    arrays = xarray.align(*arrays, join="exact", copy=False)
    coords = {}
    for array in arrays:
        for name, coord in array.coords.items():
            if set(coord.dims) <= set(dims) and name not in coords:
                coords[name] = coord
    return xarray.DataArray(_computed(arrays, dims, aggregate, join), dims=dims, coords=coords)


@xarray.register_dataset_accessor("eindb")
class DatasetAccessor:
    """`ds.eindb` of a Dataset of xarray."""

    def __init__(self, dataset):
        self._dataset = dataset

    def einsum(self, expression, *, aggregate="SUM", join="*"):
        """An einsum of variables: ds.eindb.einsum('temperature, weight -> city').

        expression: names of variables, an arrow, and the dimensions of the result in their order; none for a number.
        Equal dimensions of variables are one, wherever they stand; those that the result lacks are aggregated.
        aggregate: SUM, PROD, MIN, MAX, LOGSUMEXP or AVG. join: '*' or '+', what is done with the variables' cells.

        Returns a DataArray, with the coordinates of its dimensions. Raises ValueError for a variable or dimension that
        is not there, and for coordinates that differ.
        """
        left, arrow, right = expression.partition("->")
        if not arrow:
            raise ValueError(f"the dimensions of the result stand behind an arrow, as in {expression.strip()!r} + ' -> city'")
        names = _names_in(left)
        if not names:
            raise ValueError("an einsum has variables before the arrow")
        for name in names:
            if name not in self._dataset.variables:
                raise ValueError(f"the dataset has no variable {name!r}; there are {', '.join(map(str, self._dataset.variables))}")
        return _result([self._dataset[name] for name in names], _dimensions_of(right), aggregate, join)


@xarray.register_dataarray_accessor("eindb")
class DataArrayAccessor:
    """`da.eindb` of a DataArray of xarray."""

    def __init__(self, array):
        self._array = array

    def einsum(self, *others, to=(), aggregate="SUM", join="*"):
        """An einsum of the array with others: da.eindb.einsum(weight, to='city').

        to: the dimensions of the result in their order, a text with commas or a sequence; none for a number. The rest
        is as for a Dataset.
        """
        for other in others:
            if not isinstance(other, xarray.DataArray):
                raise TypeError(f"operands are DataArrays, whose dimensions have names, not {type(other).__name__}")
        return _result([self._array, *others], _dimensions_of(to), aggregate, join)
