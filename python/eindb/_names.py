"""Names of indices: those of a stored tensor, and what stores them."""

import collections
import contextlib
import datetime
import json

import numpy

from . import errors

_DAY, _MONTH, _SECOND = (numpy.dtype(f"M8[{unit}]") for unit in "DMs")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_OF_TENSOR = "WHERE tensor_id = (SELECT tensor_id FROM {}.eindb_tensors WHERE name = $1 COLLATE NOCASE)"
_MOST_DIMENSIONS = 1000
_MIDNIGHT = " 00:00:00"


class Names:
    """The names of the indices of one dimension: texts; and days or times, where they are a calendar."""

    def __init__(self, texts, times=None):
        self.texts = texts
        self.times = times
        self._positions = None

    def to_store(self):
        """What another tensor is to be given for the same names."""
        return self.texts if self.times is None else self.times

    def position(self, value, label):
        """The index of that name. Raises KeyError."""
        if self._positions is None:
            self._positions = {text: n for n, text in enumerate(self.texts)}
        text = name_text(value)
        found = self._positions.get(text, self._positions.get(text + _MIDNIGHT))
        if found is None:
            raise KeyError(f"no index of {label} is called {text!r}")
        return found


# ---- Texts ---------------------------------------------------------------------------------------------------------


def name_text(value):
    """The text that names an index: YYYY-MM-DD for days, YYYY-MM-DD HH:MM:SS for times, what str gives for others.

    Raises ValueError where the value is missing.
    """
    if value is None or value != value:
        raise ValueError(f"{value!r} names no index")
    if isinstance(value, numpy.datetime64):
        return _time_texts(_times([value]))[0]
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(_MIDNIGHT)
    return str(value)


def _texts(names):
    if is_calendar(names):
        return _time_texts(_times(names))
    return [name_text(value) for value in names]


def _dates_as_array(names):
    """A list of days and times, without time zones, as an array of them; other names as they are."""
    kinds = (datetime.date, numpy.datetime64)
    is_list = isinstance(names, (list, tuple)) and len(names) > 0
    if is_list and all(isinstance(value, kinds) and getattr(value, "tzinfo", None) is None for value in names):
        return numpy.array(names, "M8[us]")
    return names


def is_calendar(names):
    """Whether they are an array or an index of days or times, without a time zone."""
    return getattr(getattr(names, "dtype", None), "kind", "") == "M" and getattr(names, "tz", None) is None


def _times(names):
    """Days, if all of them are, else times."""
    values = numpy.asarray(names)
    for unit in (_DAY, _SECOND):
        if (values.astype(unit) == values).all():
            return values.astype(unit)
    raise ValueError("days and times that name indices are whole seconds, and none is missing")


def _time_texts(times):
    return [str(text).replace("T", " ") for text in numpy.datetime_as_string(times)]


# ---- Names that are stored -----------------------------------------------------------------------------------------


def read_names(connection, name, shape):
    """The Names of each dimension of a stored tensor that has some; None where its indices have none."""
    found = [None] * len(shape)
    schema, axes = _axes(connection, name)
    for position, first, step in axes:
        if first is not None:
            times = _calendar(first, step, shape[position])
            found[position] = Names(_time_texts(times), times)
            continue
        query = f"SELECT name FROM {schema}.eindb_index_names {_OF_TENSOR.format(schema)} AND position = $2 ORDER BY number"
        rows = connection._execute(query, (name, position), {}, None).fetch(shape[position])
        found[position] = Names([text for text, in rows])
    return found


def _axes(connection, name):
    """The schema of a tensor, and a row for each of its dimensions with names."""
    for schema in ("temp", "main"):  # a temporary tensor hides one of the database
        query = f"SELECT position, first, step FROM {schema}.eindb_axes {_OF_TENSOR.format(schema)}"
        with contextlib.suppress(errors.ProgrammingError):  # there is no such table
            rows = connection._execute(query, (name,), {}, None).fetch(_MOST_DIMENSIONS)
            if rows:
                return schema, rows
    return "main", []


def _calendar(first, step, count):
    """`count` days or times, from the first one on, at steps of a number and a unit."""
    number, unit = step.split(" ")
    unit = unit.removesuffix("s")
    first = numpy.datetime64(first)
    steps = int(number) * numpy.arange(count)
    if unit in _SECONDS:
        return first + steps * _SECONDS[unit] // (86400 if first.dtype == _DAY else 1)
    month = first.astype(_MONTH)
    months = month + steps * (12 if unit == "year" else 1)
    return months.astype(first.dtype) + (first - month.astype(first.dtype))


# ---- Names to be stored --------------------------------------------------------------------------------------------


def dimension(label, extent, names, parameters):
    """A dimension as CREATE TENSOR takes it. Names that it lists become one more of the statement's parameters.

    names: a sequence, or None. Raises ValueError for one that does not fit.
    """
    if names is None:
        return f"{label} {extent}"
    if isinstance(names, str) or not hasattr(names, "__len__") or len(names) != extent:
        raise ValueError(f"the {extent} indices of {label} take as many names, not {names!r}")
    names = _dates_as_array(names)
    times = _times(names) if is_calendar(names) else None
    step = None if times is None else _even_step(times)
    if step is not None:
        first, last = _time_texts(times[[0, -1]])
        return f"{label} FROM '{first}' TO '{last}' STEP '{step}'"
    texts = _texts(names)
    if len(set(texts)) < len(texts):
        twice = next(text for text, count in collections.Counter(texts).items() if count > 1)
        raise ValueError(f"more than one index of {label} is called {twice!r}")
    parameters.append(json.dumps(texts, ensure_ascii=False))
    return f"{label} IN (SELECT value FROM json_each(${len(parameters)}) ORDER BY key)"


def _even_step(times):
    """The step of a calendar that has these times; None if there is none."""
    if len(times) < 2:
        return None
    months = times.astype(_MONTH)
    rests = times - months.astype(times.dtype)
    # A calendar by months has one of the days that all months have; from two of them a step by months cannot be told.
    if len(times) > 2 and (rests == rests[0]).all() and rests[0] < numpy.timedelta64(28, "D"):
        return _even(months, "months")
    return _even(times, "days" if times.dtype == _DAY else "seconds")


def _even(times, unit):
    steps = numpy.diff(times).astype("i8")
    return f"{steps[0]} {unit}" if steps[0] > 0 and (steps == steps[0]).all() else None


# ---- Names as indices ----------------------------------------------------------------------------------------------


def has_names(index):
    """Whether an index is a name, or has some: in a list, in a slice, among several indices."""
    if isinstance(index, slice):
        return has_names(index.start) or has_names(index.stop)
    if isinstance(index, (list, tuple)):
        return any(has_names(part) for part in index)
    return isinstance(index, (str, datetime.date, numpy.datetime64))


def positions(indices, names, labels):
    """The indices with positions in the place of names. Of a slice the name at its end belongs to it, as in pandas."""
    several = isinstance(indices, tuple)
    made = list(indices) if several else [indices]
    taken = [n for n, index in enumerate(made) if index is not None]  # None makes a dimension
    dots = next((n for n in taken if made[n] is Ellipsis), None)
    for place, n in enumerate(taken):
        d = place if dots is None or n < dots else len(labels) - len(taken) + place
        if has_names(made[n]):
            if not 0 <= d < len(labels):
                raise IndexError(f"too many indices for a tensor of {len(labels)} dimensions")
            made[n] = _position(made[n], names[d], labels[d])
    return tuple(made) if several else made[0]


def _position(index, names, label):
    if names is None:
        raise KeyError(f"the indices of {label} have no names")
    if isinstance(index, list):
        return [_position(part, names, label) for part in index]
    if isinstance(index, slice):
        start, stop = (_position(end, names, label) for end in (index.start, index.stop))
        return slice(start, stop + 1 if has_names(index.stop) else stop, index.step)
    return names.position(index, label) if has_names(index) else index
