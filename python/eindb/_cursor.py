"""Cursors: the results of statements, as rows, arrays and data frames."""

import html
from typing import NamedTuple

import numpy

from . import errors

_BATCH = 1000
_SHOWN_ROWS = 20


class Tensor(NamedTuple):
    """A tensor as a result: its name in the query, its labels, and its values."""

    name: str
    labels: tuple
    values: numpy.ndarray


class PlanText(str):
    """The text of a plan."""

    def _repr_html_(self):
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
        self._closed = False

    # ---- Statements ----------------------------------------------------------------------------------------------

    def execute(self, statement, parameters=(), /, **tensors):
        """Runs one statement; as Connection.execute. Returns the cursor."""
        from ._database import _frame_of_caller

        return self._run(statement, parameters, tensors, _frame_of_caller() if self.connection._scope else None)

    def executemany(self, statement, sequence, /):
        """Runs a statement once for each sequence of parameters. rowcount is that of all together."""
        changed = 0
        for parameters in sequence:
            self._run(statement, parameters, {}, None)
            changed += self._result.rows_changed
        self._changed = changed
        return self

    def executescript(self, script, /):
        """Runs statements separated by semicolons; the result is that of the last."""
        self._check_open()
        with self.connection._lock:
            self._take(self.connection._open().execute_script(script))
        return self

    def _run(self, statement, parameters, tensors, frame):
        self._check_open()
        if isinstance(parameters, (str, bytes, dict)):
            raise TypeError("parameters are a sequence of values")
        self._take(self.connection._execute(statement, tuple(parameters), tensors, frame))
        return self

    def _take(self, result):
        self._result, self._rows, self._at = result, [], 0
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
        """What the statement was: "CREATE TENSOR", ..."""
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
        with self.connection._lock:
            self.connection._open()
            return self._checked().fetch(count)

    # ---- Whole results -------------------------------------------------------------------------------------------

    def numpy(self):
        """The tensor of an EINSUM as an array, of its own memory; the columns of other rows as a dict of arrays, in which
        numbers that are NULL are NaN."""
        if not self._checked().is_tensor:
            rows = self.fetchall()
            return {name: _column([row[n] for row in rows]) for n, name in enumerate(self.columns)}
        with self.connection._lock:
            self.connection._open()
            return self._result.array()

    def tensor(self):
        """The tensor of an EINSUM with its name and labels. Raises ProgrammingError for other statements."""
        if not self._checked().is_tensor:
            raise errors.ProgrammingError("the statement gives no tensor: only an EINSUM does")
        return Tensor(self._result.name, tuple(self._result.labels), self.numpy())

    def torch(self):
        """The tensor of an EINSUM as a tensor of PyTorch."""
        import torch

        return torch.from_numpy(self.tensor().values)

    def df(self):
        """The rows that are left as a data frame of pandas."""
        import pandas

        return pandas.DataFrame.from_records(self.fetchall(), columns=self.columns)

    def _repr_html_(self):
        if self._closed or self._result is None or not self._result.columns:
            return f"<p>{html.escape(repr(self))}</p>"
        ahead = self._at + _SHOWN_ROWS + 1
        self._rows = self._rows[self._at :] + self._fetch(max(0, ahead - len(self._rows)))
        self._at = 0
        return html_table(self.columns, self._rows[:_SHOWN_ROWS], len(self._rows) > _SHOWN_ROWS)

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
            raise errors.InterfaceError("no statement has been run")
        return self._result


def _column(values):
    if None in values:
        numbers = numpy.array([numpy.nan if value is None else value for value in values])
        if numbers.dtype.kind in "fc":
            return numbers
    return numpy.array(values)


def html_table(columns, rows, has_more):
    """A table for notebooks."""

    def line(cells, kind):
        return "<tr>" + "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in cells) + "</tr>"

    lines = [line(columns, "th"), *(line(row, "td") for row in rows)]
    if has_more:
        lines.append(line(["…"] * len(columns), "td"))
    return "<table>" + "".join(lines) + "</table>"
