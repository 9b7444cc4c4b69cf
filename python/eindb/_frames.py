"""Frames of pandas and arrays of xarray, whose labels are names of dimensions and of indices."""

import sys

import numpy


def is_frame(value):
    """Whether it is a Series or a DataFrame of pandas, or a DataArray of xarray."""
    pandas, xarray = sys.modules.get("pandas"), sys.modules.get("xarray")
    return (pandas is not None and isinstance(value, (pandas.Series, pandas.DataFrame))) or (
        xarray is not None and isinstance(value, xarray.DataArray)
    )


def parts_of(frame):
    """(array, labels, names): what the dimensions are called, and names of their indices, None where there are none.

    Each level of an index is a dimension; cells that then are missing are NaN. A column val alone is a Series. Raises
    ValueError for keys of several parts that occur twice.
    """
    if hasattr(frame, "dims"):
        return frame.values, list(frame.dims), [_names(frame.indexes.get(dim)) for dim in frame.dims]
    if frame.ndim == 2 and list(frame.columns) == ["val"]:
        frame = frame["val"]
    axes = [_levels(axis) for axis in frame.axes]
    levels = [level for levels, _ in axes for level in levels]
    values = _spread(_values(frame), axes).reshape([len(level) for level in levels])
    return values, [level.name for level in levels], [_names(level) for level in levels]


def _names(index):
    """An index as names: None for 0, 1, 2, ..."""
    if index is None or (index.dtype.kind in "iu" and (numpy.asarray(index) == numpy.arange(len(index))).all()):
        return None
    if index.nlevels > 1:
        raise ValueError("a dimension whose keys have several parts: unstack it")
    return index


def _values(frame):
    """The values as an array, in which those that are missing are NaN."""
    values = frame.to_numpy()
    return frame.to_numpy(dtype="f8", na_value=numpy.nan) if values.dtype == object else values


def _levels(axis):
    """The levels of an index, and which cell of all their combinations each of its keys is; None for each in turn."""
    if axis.nlevels == 1:
        return [axis], None
    axis = axis.remove_unused_levels()
    if not axis.is_unique:
        raise ValueError("an index has keys that occur twice")
    if any((codes < 0).any() for codes in axis.codes):
        raise ValueError("an index has keys of which a part is missing")
    levels = [level.rename(name) for level, name in zip(axis.levels, axis.names)]
    return levels, numpy.ravel_multi_index(axis.codes, [len(level) for level in levels])


def _spread(values, axes):
    """Values for all combinations of the levels of axes, from those of the keys that there are."""
    for dimension, (levels, places) in enumerate(axes):
        if places is None:
            continue
        shape = list(values.shape)
        shape[dimension] = numpy.prod([len(level) for level in levels])
        if shape[dimension] == values.shape[dimension]:
            made = numpy.empty(shape, values.dtype)
        else:
            made = numpy.full(shape, numpy.nan, numpy.result_type(values.dtype, numpy.float16))
        made[(slice(None),) * dimension + (places,)] = values
        values = made
    return values


def frame_of(tensor):
    """A stored matrix as a DataFrame of its rows and columns; others as a column val, by the keys of the cells."""
    import pandas

    values = tensor.numpy()
    axes = [_index(tensor, d) for d in range(tensor.ndim)]
    if tensor.ndim == 2:
        return pandas.DataFrame(values, index=axes[0], columns=axes[1])
    index = pandas.MultiIndex.from_product(axes) if tensor.ndim > 2 else axes[0] if axes else None
    return pandas.DataFrame({"val": values.reshape(-1)}, index=index)


def xarray_of(tensor):
    """A stored tensor as a DataArray, with names of indices as coordinates."""
    try:
        import xarray
    except ImportError as error:
        raise ImportError("to_xarray needs the package xarray, which is not installed", name="xarray") from error
    named = [d for d in range(tensor.ndim) if tensor.names[d] is not None]
    coords = {tensor.labels[d]: _index(tensor, d) for d in named}
    return xarray.DataArray(tensor.numpy(), dims=tensor.labels, coords=coords, name=tensor.name)


def _index(tensor, dimension):
    """An index of pandas: of days or times for a calendar within pandas' years, of numbers where there are no names."""
    import pandas

    label, names = tensor.labels[dimension], tensor._read_names()[dimension]
    if names is None:
        return pandas.RangeIndex(tensor.shape[dimension], name=label)
    if names.times is not None:
        try:
            return pandas.DatetimeIndex(names.times, name=label)
        except pandas.errors.OutOfBoundsDatetime:
            pass
    return pandas.Index(names.texts, name=label, dtype=object)
