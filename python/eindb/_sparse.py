"""Sparse matrices of SciPy and sparse tensors of PyTorch, of which statements and einsum read the cells."""

import os
import sys
import tempfile
import threading

import numpy

from . import _eindb
from .errors import NotSupportedError


def is_sparse(value):
    """Whether it is a matrix or an array of scipy.sparse, or a tensor of PyTorch in a sparse layout."""
    sparse = sys.modules.get("scipy.sparse")
    return (sparse is not None and sparse.issparse(value)) or is_sparse_tensor(value)


def is_sparse_tensor(value):
    """Whether it is a tensor of PyTorch in a sparse layout."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor) and value.layout != torch.strided


def cells_of(matrix):
    """The arrays of a matrix as CSR: values, the cells that come before each row, columns, and its shape. Of a tensor of
    PyTorch in another layout those of COO: values, the indices by dimension, and its shape. Contiguous, in the machine's
    byte order; each cell is there once."""
    if is_sparse_tensor(matrix):
        return _cells_of_tensor(matrix)
    cells = matrix.tocsr()
    if not cells.has_canonical_format:
        cells = cells.copy() if cells is matrix else cells
        cells.sum_duplicates()
    values = _values_of(cells.data)
    wide = cells.indptr.dtype.itemsize == 8 or cells.indices.dtype.itemsize == 8
    begins, columns = (numpy.ascontiguousarray(indices, "i8" if wide else "i4") for indices in (cells.indptr, cells.indices))
    # Arrays may have room behind the last cell.
    return numpy.ascontiguousarray(values[: begins[-1]]), begins, columns[: begins[-1]], tuple(map(int, cells.shape))


def _values_of(values):
    from ._arguments import bindable

    return bindable(values)


def _cells_of_tensor(tensor):
    from ._operands import array_of_tensor, check_tensor

    torch = sys.modules["torch"]
    check_tensor(tensor)
    tensor = tensor.detach()
    shape = tuple(map(int, tensor.shape))
    try:
        is_csr = tensor.layout == torch.sparse_csr and tensor.ndim == 2
        cells = tensor if is_csr else (tensor if tensor.layout == torch.sparse_coo else tensor.to_sparse()).coalesce()
    except RuntimeError as error:
        raise TypeError(f"a tensor of layout {tensor.layout} has no cells one by one: {error}") from None
    values = cells.values()
    if values.ndim != 1:
        raise TypeError(f"the cells of a sparse tensor are numbers, but these have {values.ndim - 1} dimensions: to_dense() it")
    values = numpy.ascontiguousarray(_values_of(array_of_tensor(values)))
    if is_csr:
        begins, columns = cells.crow_indices(), cells.col_indices()
        return values, *(numpy.ascontiguousarray(part.numpy(), "i8") for part in (begins, columns)), shape
    return values, numpy.ascontiguousarray(cells.indices().numpy(), "i8"), shape


# ---- einsum ----------------------------------------------------------------------------------------------------------

_own = threading.local()  # the connection of each thread's calls


def einsum(terms, output, operands, path):
    """The sum of products of operands of which some are sparse: eindb.einsum calls it.

    terms, output: labels are numbers, -1 is an ellipsis; no output stands for that of NumPy's rule.
    path: the clause of EINSUM that says in which order is computed.
    """
    from ._arguments import bindable
    from ._operands import as_array, is_tensor, to_tensor

    are_sparse = [is_sparse(operand) for operand in operands]
    bound = [cells_of(operand) if sparse else as_array(operand) for operand, sparse in zip(operands, are_sparse)]
    shapes = [operand[-1] if sparse else operand.shape for operand, sparse in zip(bound, are_sparse)]
    given = [_dtype_of(operand) if sparse else array.dtype for operand, array, sparse in zip(operands, bound, are_sparse)]
    dtype = numpy.result_type(*given)
    computed = bindable(numpy.empty(0, dtype)).dtype
    terms, output = _eindb.resolve_equation(terms, output, [len(shape) for shape in shapes])
    extents = {}
    for term, shape in zip(terms, shapes):
        for label, extent in zip(term, shape):
            extents[label] = extent if extents.get(label, 1) == 1 else extents[label]
    names = {label: f"l{n}" for n, label in enumerate(extents)}
    factors, tensors = [], {}
    for n, (operand, term, shape, sparse) in enumerate(zip(bound, terms, shapes, are_sparse)):
        repeated = [d for d, label in enumerate(term) if shape[d] != extents[label]]
        if any(shape[d] != 1 for d in repeated) or (repeated and sparse):
            raise ValueError(f"operand {n} has other extents than its labels have, and sparse operands are not broadcast")
        kept = [names[label] for d, label in enumerate(term) if d not in repeated]
        factors.append(f"a{n}[{','.join(kept)}]")
        if sparse:
            tensors[f"a{n}"] = (operand[0].astype(computed, copy=False), *operand[1:])
        else:
            tensors[f"a{n}"] = bindable(numpy.squeeze(operand, tuple(repeated)).astype(computed, copy=False))
    product = " * ".join(factors)
    summed = product if set(output) == set(extents) else f"SUM({product})"
    query = f"EINSUM Z[{','.join(names[label] for label in output)}] = {summed}{path}"
    result = _connection()._open().execute(query, (), tensors)
    is_matrix = all(are_sparse) and len(output) == 2
    made = matrix_of(result) if is_matrix else result.take_array()
    made = made != 0 if dtype == bool else made.astype(dtype, copy=False)
    if is_tensor(operands[0]):
        return to_tensor(made) if isinstance(made, numpy.ndarray) else _tensor_of(made)
    return made[()] if isinstance(made, numpy.ndarray) and made.ndim == 0 else made


def _dtype_of(matrix):
    """The dtype of NumPy of a sparse operand's values."""
    return sys.modules["torch"].empty(0, dtype=matrix.dtype).numpy().dtype if is_sparse_tensor(matrix) else matrix.dtype


def _connection():
    from ._database import Connection

    # A child of fork() has none of the threads of its parent's connections.
    if getattr(_own, "process", None) != os.getpid():
        _own.connection, _own.process = Connection(scope=False), os.getpid()
    return _own.connection


def _tensor_of(matrix):
    torch = sys.modules["torch"]
    cells = matrix.tocoo()
    indices = torch.from_numpy(numpy.stack([cells.row, cells.col]).astype("i8"))
    return torch.sparse_coo_tensor(indices, torch.from_numpy(cells.data), matrix.shape).coalesce()


def matrix_of(result):
    """The cells of a statement's tensor as a CSR matrix; those of a vector are a column."""
    from scipy.sparse import csr_matrix

    values, indices, shape = result.cells()
    if len(shape) not in (1, 2):
        raise NotSupportedError(f"scipy.sparse holds a matrix, not {len(shape)} dimensions")
    rows, columns = indices if len(shape) == 2 else (indices[0], numpy.zeros(len(values), "i8"))
    begins = numpy.zeros(shape[0] + 1, "i8")
    numpy.cumsum(numpy.bincount(rows, minlength=shape[0]), out=begins[1:])
    return csr_matrix((values, columns, begins), shape=shape if len(shape) == 2 else (*shape, 1))


def copy_from(connection, name, matrix):
    """Copies the matrix to the tensor `name`, which there is not yet."""
    from scipy.sparse import save_npz

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cells.npz")
        matrix = _matrix_of(matrix)
        cells = matrix.tocsr().astype(matrix.dtype.newbyteorder("="), copy=False)
        cells.sum_duplicates()
        save_npz(path, cells, compressed=False)
        connection.execute(f"COPY {name} FROM {_quoted(path)} (FORMAT scipy)")


def _matrix_of(matrix):
    """The matrix as one of scipy.sparse."""
    if not is_sparse_tensor(matrix):
        return matrix
    from scipy.sparse import coo_matrix, csr_matrix

    if matrix.ndim != 2:
        raise ValueError(f"a sparse tensor of {matrix.ndim} dimensions is stored by a statement: CREATE TENSOR T AS EINSUM T[i,j,k] = S[i,j,k]")
    cells = cells_of(matrix)
    if len(cells) == 3:
        return coo_matrix((cells[0], tuple(cells[1])), shape=cells[2])
    return csr_matrix(cells[:3], shape=cells[3])


def _quoted(path):
    return "'" + path.replace("'", "''") + "'"
