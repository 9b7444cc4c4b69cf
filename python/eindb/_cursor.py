"""Cursors: the results of statements, as rows, arrays and data frames."""

import contextlib
import html
import re
from typing import NamedTuple

import numpy

from . import _sparse, errors
from ._arrow import ArrowTensor

_BATCH = 1000
_ARROW_ROWS = 65_536
_SHOWN_ROWS = 20
_COUNTED_ROWS = 10_000
_CHANGES_ROWS = re.compile(r"\s*(?:INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE)


class Tensor(NamedTuple):
    """A tensor as a result: its name in the query, its labels, and its values."""

    name: str
    labels: tuple
    values: numpy.ndarray


class PlanText(str):
    """The text of a plan, or the page that draws it, as FORMAT html gives it."""

    def _repr_html_(self):
        if self.startswith("<!doctype html>"):  # apart from the notebook's own page, which gives it no rights
            page = html.escape(self, quote=True)
            return f'<iframe title="plan" sandbox="allow-scripts" width="100%" height="600" srcdoc="{page}"></iframe>'
        return f"<pre>{html.escape(self)}</pre>"


class Cursor:
    """A cursor of DB-API 2.0: runs statements, and gives the rows of the last one, once, from first to last.

    description: one tuple for each column, the name first; None for a statement without rows.
    rowcount: how many rows, or cells, the last statement has changed; -1 where it has rows itself.
    arraysize: how many rows fetchmany gives by itself.
    """

    def __init__(self, connection):
        self.connection = connection
        self.arraysize = 1
        self._result = None
        self._changed = 0
        self._rows = []
        self._at = 0
        self._streams = False  # whether the rows that are left are those of a stream of Arrow
        self._closed = False

    # ---- Statements ----------------------------------------------------------------------------------------------

    def execute(self, statement, parameters=(), /, **tensors):
        """Runs one statement; as Connection.execute. Returns the cursor."""
        from ._database import _frame_of_caller

        return self._run(statement, parameters, tensors, _frame_of_caller() if self.connection._scope else None)

    def executemany(self, statement, sequence, /):
        """Runs a statement once for each sequence of parameters. rowcount is that of all together. INSERT, UPDATE, DELETE and
        REPLACE happen for all of them or for none."""
        changed = 0
        with self.connection._whole() if _CHANGES_ROWS.match(statement) else contextlib.nullcontext():
            for parameters in sequence:
                self._run(statement, parameters, {}, None)
                changed += self._result.rows_changed
        self._changed = changed
        return self

    def executescript(self, script, /):
        """Runs statements separated by semicolons; the result is that of the last."""
        self._check_open()
        with self.connection._lock:
            self._drop()
            self._take(self.connection._open().execute_script(script))
        return self

    def _run(self, statement, parameters, tensors, frame):
        self._check_open()
        if isinstance(parameters, (str, bytes, dict)):
            raise TypeError("parameters are a sequence of values")
        self._drop()
        self._take(self.connection._execute(statement, tuple(parameters), tensors, frame))
        return self

    def _drop(self):
        """Lets go of the last result: its rows need not be kept from what the next statement writes."""
        self._result, self._rows, self._at, self._streams, self._changed = None, [], 0, False, 0

    def _take(self, result):
        self._result, self._rows, self._at, self._streams = result, [], 0, False
        self._changed = result.rows_changed

    # ---- Rows ----------------------------------------------------------------------------------------------------

    @property
    def description(self):
        if self._result is None or not self._result.columns:
            return None
        return tuple((name, None, None, None, None, None, None) for name in self._result.columns)

    @property
    def columns(self):
        """The names of the columns; for an EINSUM its labels, then val."""
        return list(self._checked().columns)

    @property
    def status(self):
        """The statement's command tag: "CREATE TENSOR", ..."""
        return self._checked().status

    @property
    def rowcount(self):
        return -1 if self._result is None or self._result.columns else self._changed

    def fetchone(self):
        """The next row as a tuple; None after the last."""
        self._checked()
        if self._at == len(self._rows):
            self._rows, self._at = self._fetch(_BATCH), 0
            if not self._rows:
                return None
        self._at += 1
        return self._rows[self._at - 1]

    def fetchmany(self, size=None):
        """Up to `size` of the next rows; else as many as arraysize says."""
        rows = []
        for _ in range(self.arraysize if size is None else size):
            row = self.fetchone()
            if row is None:
                break
            rows.append(row)
        return rows

    def fetchall(self):
        """All rows that are left."""
        self._checked()
        rows, self._rows, self._at = self._rows[self._at :], [], 0
        while batch := self._fetch(_BATCH):
            rows += batch
        return rows

    def __iter__(self):
        return self

    def __next__(self):
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def _fetch(self, count):
        if self._streams:
            raise errors.InterfaceError("the rows are those of a stream of Arrow: run the statement again for them")
        with self.connection._lock:
            self.connection._open()
            return self._checked().fetch(count)

    # ---- Whole results -------------------------------------------------------------------------------------------

    def numpy(self):
        """The tensor of an EINSUM as an array, of its own memory; the columns of other rows as a dict of arrays, in which
        numbers that are NULL are NaN."""
        if not self._checked().is_tensor:
            repeated = {name for name in self.columns if self.columns.count(name) > 1}
            if repeated:
                raise errors.ProgrammingError(f"several columns are called {sorted(repeated)[0]}: name them apart by AS")
            rows = self.fetchall()
            return {name: _column([row[n] for row in rows]) for n, name in enumerate(self.columns)}
        with self.connection._lock:
            self.connection._open()
            return self._result.array()

    def _take_array(self):
        """The same for a cursor that nobody reads any more: without a copy, where the memory is the result's alone."""
        return self._checked().take_array() if self._result.is_tensor else self.numpy()

    def tensor(self):
        """The tensor of an EINSUM with its name and labels. Raises ProgrammingError for other statements."""
        if not self._checked().is_tensor:
            raise errors.ProgrammingError("the statement gives no tensor: only an EINSUM does")
        return Tensor(self._result.name, tuple(self._result.labels), self.numpy())

    def torch(self):
        """The tensor of an EINSUM as a tensor of PyTorch."""
        import torch

        return torch.from_numpy(self.tensor().values)

    def scipy(self):
        """The cells of the matrix of an EINSUM that are not zero, as a scipy.sparse.csr_matrix; those of a vector are a
        column. It takes memory and time for these cells alone where the result is computed by cells. Raises
        ProgrammingError for other statements, NotSupportedError for other numbers of dimensions."""
        if not self._checked().is_tensor:
            raise errors.ProgrammingError("the statement gives no tensor: only an EINSUM does")
        with self.connection._lock:
            self.connection._open()
            return _sparse.matrix_of(self._result)

    def df(self):
        """The rows that are left as a data frame of pandas."""
        import pandas

        return pandas.DataFrame.from_records(self.fetchall(), columns=self.columns)

    def arrow(self):
        """The tensor of an EINSUM as one array of Arrow, on the memory of the result: an object with __arrow_c_array__ and
        __arrow_c_schema__, of the extension arrow.fixed_shape_tensor. Raises ProgrammingError for other statements."""
        if not self._checked().is_tensor:
            raise errors.ProgrammingError("the statement gives no tensor: only an EINSUM does")
        return ArrowTensor(self._result)

    def __arrow_c_stream__(self, requested_schema=None):
        """The rows that are left as a stream of Arrow, batch by batch: polars.DataFrame(cursor), pyarrow.table(cursor). Those
        of an EINSUM are all its cells, as often as they are asked for. Raises InterfaceError where rows have been read in
        part."""
        if not self._checked().is_tensor and self._rows[self._at :]:
            raise errors.InterfaceError("rows have been fetched one by one: run the statement again for a stream of them")
        if not self._has_rows():
            raise errors.InterfaceError(f"{self.status} gives no rows")
        with self.connection._lock:
            self.connection._open()
            self._streams = not self._result.is_tensor
            return self._result.arrow_stream(_ARROW_ROWS, self.connection._lock)

    def __arrow_c_schema__(self):
        """The columns of an EINSUM's cells. Those of other rows are known with the rows: raises ProgrammingError."""
        if not self._checked().is_tensor:
            raise errors.ProgrammingError("columns of SQL have their types with their rows: take __arrow_c_stream__")
        return self._result.arrow_schema()

    def _repr_html_(self):
        """The rows that come next as a table for notebooks, and how many there are behind them; a plan as its text."""
        if not self._has_rows():
            return f"<p>{html.escape(repr(self))}</p>"
        if self.columns == ["plan"]:
            return self._plan()._repr_html_()
        shown, left = self._shown()
        return html_table(self.columns, shown) + (f"<p>{left}</p>" if left else "")

    def _repr_pretty_(self, printer, cycle):
        """The same for IPython in a terminal."""
        if cycle or not self._has_rows():
            printer.text(repr(self))
        elif self.columns == ["plan"]:
            printer.text(self._plan())
        else:
            shown, left = self._shown()
            printer.text(text_table(self.columns, shown) + (f"\n{left}" if left else ""))

    def _has_rows(self):
        return not self._closed and self._result is not None and bool(self._result.columns)

    def _ahead(self, count):
        """Up to `count` of the next rows, which stay the next."""
        self._rows, self._at = self._rows[self._at :], 0
        self._rows += self._fetch(max(0, count - len(self._rows)))
        return self._rows[:count]

    def _plan(self):
        return PlanText("\n".join(str(row[0]) for row in self._ahead(_COUNTED_ROWS)))

    def _shown(self):
        """Rows to be shown, and a line on how many are left."""
        rows = self._ahead(_SHOWN_ROWS + _COUNTED_ROWS + 1)
        left = len(rows) - _SHOWN_ROWS
        counted = f"more than {_COUNTED_ROWS:,}" if left > _COUNTED_ROWS else f"{left:,}"
        return rows[:_SHOWN_ROWS], f"… {counted} more row{'s' * (left > 1)}" if left > 0 else ""

    def __repr__(self):
        if self._closed:
            return "<eindb.Cursor, closed>"
        return "<eindb.Cursor>" if self._result is None else f"<eindb.Cursor at a result of {self._result.status}>"

    # ---- Its end -------------------------------------------------------------------------------------------------

    def close(self):
        """Releases the result. The cursor cannot be used any more."""
        self._closed = True
        self._result, self._rows = None, []

    def setinputsizes(self, sizes):
        """Does nothing: DB-API wants it."""

    def setoutputsize(self, size, column=None):
        """Does nothing: DB-API wants it."""

    def __enter__(self):
        self._check_open()
        return self

    def __exit__(self, kind, error, traceback):
        self.close()

    def _check_open(self):
        if self._closed:
            raise errors.InterfaceError("the cursor is closed")

    def _checked(self):
        self._check_open()
        if self._result is None:
            raise errors.InterfaceError("there is no result: no statement has been run, or the last one has failed")
        return self._result


def _column(values):
    if any(isinstance(value, bytes) for value in values):  # an array of bytes would lose zeros at their ends
        column = numpy.empty(len(values), dtype=object)
        column[:] = values
        return column
    if None in values:
        numbers = numpy.array([numpy.nan if value is None else value for value in values])
        if numbers.dtype.kind in "fc":
            return numbers
    return numpy.array(values)


def html_table(columns, rows):
    """A table for notebooks."""

    def line(cells, kind):
        return "<tr>" + "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in cells) + "</tr>"

    return "<table>" + line(columns, "th") + "".join(line(row, "td") for row in rows) + "</table>"


def text_table(columns, rows):
    """A table of columns of even width, under their names; numbers stand on the right."""
    cells = [columns, *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    to_right = [all(not isinstance(row[n], str) for row in rows) for n in range(len(columns))]
    lines = (
        "  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(line, widths, to_right))
        for line in cells
    )
    return "\n".join(line.rstrip() for line in lines)
