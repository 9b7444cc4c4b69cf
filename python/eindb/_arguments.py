"""What statements get from Python: arrays in eindb's types, and parameters."""

import datetime
import re
import sys
import uuid

import numpy

from . import _eindb, _sparse
from ._operands import as_array

_TYPES = {numpy.dtype(code) for code in ("f4", "f8", "c8", "c16", "i8")}
# Texts, names in quotes and comments, in which a question mark is itself.
_TOKENS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|\$\d+|\?", re.DOTALL)


def bindable(array):
    """The array in a type of eindb's, on its own memory if it has one and is aligned, else as a copy; of a matrix of
    scipy.sparse or a sparse tensor of PyTorch a tuple of its arrays, which eindb copies.

    Masked values are NaN. Raises TypeError for a dtype whose values eindb does not have, ValueError for integers beyond
    INT64, and for masked integers.
    """
    if _sparse.is_sparse(array):
        return _sparse.cells_of(array)
    values = as_array(array)
    dtype = values.dtype
    if numpy.ma.is_masked(array):
        if dtype.kind not in "fc":
            raise ValueError(f"an array of {dtype} has masked values, for which that type has no NaN: fill them, array.filled(0)")
        values = array.filled(numpy.nan)
    if dtype.newbyteorder("=") in _TYPES:
        values = values.astype(dtype.newbyteorder("="), copy=False)
        return values if _eindb.is_readable(values) else values.copy()
    if dtype == numpy.float16:
        return values.astype("f4")
    if dtype.kind in "biu":
        if dtype == numpy.uint64 and values.size and int(values.max()) > numpy.iinfo("i8").max:
            raise ValueError("an array of uint64 has integers beyond INT64")
        return values.astype("i8")
    raise TypeError(f"eindb has no type for the values of {dtype}")


def parameter(value):
    """A parameter as a statement takes it: days and times are texts in the form of ISO 8601, NaT and NA are None."""
    if isinstance(value, numpy.complexfloating):
        return complex(value)
    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is pandas.NaT or value is pandas.NA):
        return None
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, numpy.datetime64):
        return None if numpy.isnat(value) else str(value).replace("T", " ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return str(value) if isinstance(value, uuid.UUID) else value


def numbered_parameters(statement):
    """The statement with $1, $2, ... in the place of question marks outside of texts and comments.

    Values never become a part of the statement. Raises ValueError where both are used.
    """
    count = 0
    has_numbers = False

    def number(token):
        nonlocal count, has_numbers
        has_numbers = has_numbers or token[0].startswith("$")
        if token[0] != "?":
            return token[0]
        count += 1
        return f"${count}"

    made = _TOKENS.sub(number, statement)
    if count and has_numbers:
        raise ValueError("a statement has either $1 or question marks as parameters")
    return made
