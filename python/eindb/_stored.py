"""Tensors that a database stores, as arrays."""

import re

import numpy

from . import _frames, _names, _sparse
from ._arrow import ArrowTensor
from ._operands import as_array

_NAME = re.compile(r"[^\W\d]\w*")
_STORED = {"f2": "FLOAT16", "i1": "INT8", "u1": "UINT8", "i2": "INT16", "u2": "UINT16", "i4": "INT32", "u4": "UINT32",
           "b1": "BOOL"}  # fmt: skip
_DTYPES = {stored: numpy.dtype(code) for code, stored in _STORED.items()}
_DTYPES.update(FLOAT32=numpy.dtype("f4"), FLOAT64=numpy.dtype("f8"), COMPLEX64=numpy.dtype("c8"),
               COMPLEX128=numpy.dtype("c16"), INT64=numpy.dtype("i8"))  # fmt: skip


def check_name(name):
    """The name, if it is one that stands in a statement as it is. Raises ValueError."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name: letters, digits and underscores, the first no digit")
    return name


def sql_name(name):
    """A tensor's name as it stands in a statement: in quotation marks if it is no plain name, such as "layer.weight".
    Raises ValueError for what is no name at all."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(f"{name!r} is no name of a tensor")
    return '"' + name.replace('"', '""') + '"'


def default_labels(rank):
    """i, j, k, ... for so many dimensions."""
    letters = "ijklmnopqrstuvwxyz"
    return list(letters[:rank]) if rank <= len(letters) else [f"i{n}" for n in range(rank)]


def usable_labels(names):
    """Labels for dimensions of these names, with underscores for what cannot be in a label: my_dim for "my dim". i, j, k,
    ... stand in the place of what is no name even so, or occurs twice."""
    made = []
    names = [re.sub(r"\W+", "_", name.strip()) if isinstance(name, str) else name for name in names]
    for n, name in enumerate(names):
        usable = isinstance(name, str) and _NAME.fullmatch(name) and name not in made
        default = default_labels(len(names))[n]
        made.append(name if usable else default if default not in (*made, *names) else f"{default}{n}")
    return made


def stored_type(array):
    """The name of the type that holds the dtype of an array, and takes no more room."""
    dtype = array.dtype if isinstance(getattr(array, "dtype", None), numpy.dtype) else as_array(array).dtype
    return _STORED.get(dtype.newbyteorder("=").str[1:], "")


def computed_type(dtype):
    """The name of a type that statements compute in, by its dtype."""
    return next(name for name, known in _DTYPES.items() if known == dtype)


class Changed:
    """New values for a stored tensor, which keeps its labels and names: what db['X'] += 1 assigns."""

    def __init__(self, values, tensor):
        self.values = numpy.asarray(values)
        self.tensor = tensor

    def __array__(self, dtype=None):
        return self.values if dtype is None else self.values.astype(dtype, copy=False)


class StoredTensor(numpy.lib.mixins.NDArrayOperatorsMixin):
    """A stored tensor. It is read whenever its values are wanted: numpy.asarray(db['X']), db['X'] + 1, db['X'][0, :].

    Under labels it is an Expression, of which nothing is read yet: db['X'][i, j].

    name: its name. labels: of its dimensions. shape, ndim, dtype: as an array has them; floats that NumPy lacks, such as
    BFLOAT16, are float32.
    """

    __slots__ = ("_connection", "name", "labels", "shape", "stored_type", "_has_names", "_names")

    def __init__(self, connection, name):
        if name not in connection:
            raise KeyError(name)
        self._connection = connection
        self.name = name
        rows = connection._execute(f"DESCRIBE {sql_name(name)}", (), {}, None).fetch(1000)
        self.labels = tuple(row[0] for row in rows[:-1])
        self.shape = tuple(row[2] for row in rows[:-1])
        self.stored_type = rows[-1][1]
        self._has_names = any(len(row) > 4 and row[4] is not None for row in rows[:-1])
        self._names = None

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def dtype(self):
        return _DTYPES.get(self.stored_type, numpy.dtype("f4"))

    @property
    def names(self):
        """For each dimension a list of the names of its indices, or None. Read at the first call, and kept."""
        return tuple(None if names is None else list(names.texts) for names in self._read_names())

    def _read_names(self):
        if self._names is None:
            with self._connection._lock:
                found = _names.read_names(self._connection, self.name, self.shape) if self._has_names else None
            self._names = found or [None] * self.ndim
        return self._names

    def numpy(self):
        """The tensor as an array, of its own memory."""
        return self._read(default_labels(self.ndim), self.ndim)

    def _read(self, indices, rank):
        """An array of that rank, of the cells under indices as they stand in a statement."""
        with self._connection._lock:
            values = self._copied(indices, rank).take_array()
        return values.astype(self.dtype, copy=False)

    def _copied(self, indices, rank):
        """The result of a statement that copies the cells under indices, as they stand in it."""
        head = ",".join(default_labels(rank))
        statement = f"EINSUM python_output_[{head}] = {sql_name(self.name)}[{','.join(indices)}]"
        return self._connection._execute(statement, (), {}, None)

    def torch(self):
        """The tensor as a tensor of PyTorch."""
        import torch

        return torch.from_numpy(self.numpy())

    def scipy(self):
        """The cells of a matrix that are not zero, as a scipy.sparse.csr_matrix."""
        with self._connection._lock:
            matrix = _sparse.matrix_of(self._copied(default_labels(self.ndim), self.ndim))
        return matrix.astype(self.dtype, copy=False)

    def df(self):
        """A data frame of pandas. A matrix has its rows and columns; of another tensor, cells are rows with the column
        val, by an index with a level for each dimension.

        The index has names where there are some, of calendars days and times, else numbers. db.store takes it back.
        """
        return _frames.frame_of(self)

    def to_xarray(self):
        """A DataArray of xarray: labels are its dims, names its coords. Raises ImportError where there is no xarray."""
        return _frames.xarray_of(self)

    def arrow(self):
        """The tensor as one array of Arrow: an object with __arrow_c_array__ and __arrow_c_schema__, of the extension
        arrow.fixed_shape_tensor."""
        return ArrowTensor(self._run_whole())

    def __arrow_c_stream__(self, requested_schema=None):
        """The cells as rows of Arrow, batch by batch: a column for each label, of names text, days or times, and val."""
        return self._run_whole().arrow_stream(65_536, self._connection._lock)

    def __arrow_c_schema__(self):
        """The columns of __arrow_c_stream__."""
        return self._run_whole().arrow_schema()

    def _run_whole(self):
        indices = ",".join(self.labels)
        name = sql_name(self.name)
        statement = f"EINSUM {name}[{indices}] = {name}[{indices}]"
        with self._connection._lock:
            return self._connection._execute(statement, (), {}, None)

    def __array__(self, dtype=None):
        values = self.numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **keywords):
        if out is not None:  # such as db['X'] += 1, whose result is stored under the name anew
            if not (len(out) == 1 and out[0] is inputs[0] and method == "__call__"):
                raise TypeError("a stored tensor is no out= of NumPy: assign to it, db['X'] = ...")
            return Changed(self.__array_ufunc__(ufunc, method, *inputs, **keywords), self)
        values = [numpy.asarray(value) if isinstance(value, StoredTensor) else value for value in inputs]
        return getattr(ufunc, method)(*values, **keywords)

    def __getitem__(self, indices):
        from ._expressions import has_labels, indexed

        if _names.has_names(indices):
            indices = _names.positions(indices, self._read_names(), self.labels)
        if not has_labels(indices):
            ranges = _ranges(indices, self.shape)
            if ranges is None:
                return self.numpy()[indices]
            return self._read(ranges, sum(":" in part for part in ranges))[()]
        indices = indices if isinstance(indices, tuple) else (indices,)
        return indexed(sql_name(self.name), indices, self.ndim, self._connection)

    def __len__(self):
        if not self.shape:
            raise TypeError("a tensor without dimensions has no length")
        return self.shape[0]

    def __repr__(self):
        return f"<eindb.StoredTensor {self.name}{list(self.shape)} {self.stored_type}>"


def _ranges(indices, shape):
    """Integers and slices as they stand in a statement, which then reads their tiles alone; None for other indices, and for
    those that are not there."""
    indices = list(indices) if isinstance(indices, tuple) else [indices]
    if not all(isinstance(index, (int, numpy.integer, slice, type(Ellipsis))) for index in indices):
        return None
    dots = next((n for n, index in enumerate(indices) if index is Ellipsis), len(indices))
    indices[dots : dots + 1] = [slice(None)] * (len(shape) - len(indices) + (dots < len(indices)))
    if len(indices) != len(shape) or Ellipsis in indices:
        return None
    parts = []
    for index, extent in zip(indices, shape):
        if isinstance(index, bool) or (not isinstance(index, slice) and not -extent <= index < extent):
            return None
        places = range(extent)[index]
        if isinstance(places, int):
            parts.append(str(places))
        elif not places:
            parts.append("0:0")
        else:
            end = places[-1] + places.step
            parts.append(f"{places.start}:{end if 0 <= end <= extent else ''}:{places.step}")
    return parts
