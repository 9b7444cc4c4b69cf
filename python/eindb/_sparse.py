"""Sparse matrices of SciPy, which pass as files of it: eindb reads and writes these as lists of cells."""

import os
import sys
import tempfile


def is_sparse(value):
    """Whether it is a matrix or an array of scipy.sparse."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(value)


def cells_of(matrix):
    """The arrays of the matrix as CSR: values, the cells that come before each row, columns, and its shape. Contiguous, in
    the machine's byte order; each cell is there once."""
    import numpy

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


def copy_from(connection, name, matrix):
    """Copies the matrix to the tensor `name`, which there is not yet."""
    from scipy.sparse import save_npz

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cells.npz")
        cells = matrix.tocsr().astype(matrix.dtype.newbyteorder("="), copy=False)
        cells.sum_duplicates()
        save_npz(path, cells, compressed=False)
        connection.execute(f"COPY {name} FROM {_quoted(path)} (FORMAT scipy)")


def copy_to(connection, name):
    """A CSR matrix of the cells of the tensor that are not zero."""
    from scipy.sparse import load_npz

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cells.npz")
        connection.execute(f"COPY {name} TO {_quoted(path)} (FORMAT scipy)")
        return load_npz(path)


def _quoted(path):
    return "'" + path.replace("'", "''") + "'"
