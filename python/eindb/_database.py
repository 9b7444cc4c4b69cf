"""Databases: connect, connections, and the cursors of DB-API 2.0 that their statements give."""

import contextlib
import re
import sys
import threading
import weakref

import numpy

from . import _arrow, _eindb, _frames, _names, _sparse, errors
from ._arguments import bindable, numbered_parameters, parameter
from ._cursor import Cursor, PlanText
from ._expressions import Expression
from ._stored import (
    Changed, StoredTensor, check_name, computed_type, default_labels, sql_name, stored_type, usable_labels)  # fmt: skip

_UNKNOWN = re.compile(r"there is no tensor (\w+)|no such table: (\w+)")


def connect(database=":memory:", *, read_only=False, scope=True):
    """Opens a database file, or makes it; ":memory:" is a database of this connection alone.

    read_only: statements that write are refused.
    scope: whether statements find arrays that are variables of the caller under names that no tensor or table has.
    Raises OperationalError where the file cannot be opened.

        >>> db = eindb.connect()
        >>> db['X'] = numpy.ones((2, 3))
        >>> db.execute('EINSUM S[i] = SUM(X[i,j])').fetchall()
        [(0, 3.0), (1, 3.0)]
    """
    return Connection(database, read_only=read_only, scope=scope)


class Connection:
    """A connection to a database: statements, tensors by name, cursors. Any thread may use it, one at a time.

    As a context manager it commits what a transaction has changed, or rolls back after an error, and is closed.
    """

    # The classes of errors, as DB-API's optional extension has them.
    Warning, Error, InterfaceError, DatabaseError = errors.Warning, errors.Error, errors.InterfaceError, errors.DatabaseError
    DataError, OperationalError, IntegrityError = errors.DataError, errors.OperationalError, errors.IntegrityError
    InternalError, ProgrammingError, NotSupportedError = (
        errors.InternalError, errors.ProgrammingError, errors.NotSupportedError)  # fmt: skip

    def __init__(self, database=":memory:", *, read_only=False, scope=True):
        self._lock = threading.RLock()  # of whoever runs a statement or reads rows
        self._cursors_lock = threading.Lock()  # guards _cursors
        self._scope = scope
        self._cursors = weakref.WeakSet()
        self._connection = _eindb.Connection(_path_text(database), read_only)

    # ---- Statements ----------------------------------------------------------------------------------------------

    def execute(self, statement, parameters=(), /, **tensors):
        """Runs one statement, EINSUM or SQL, and returns a Cursor at its result.

        parameters: values for $1, $2, ... or for question marks: numbers, texts, bytes, None; days and times become texts.
        tensors: arrays under names that the statement uses; they are read where they lie.
        Raises ProgrammingError for a wrong statement, and other classes of Error; one that is a ValueError or TypeError, too,
        for parameters that do not fit.
        """
        return self.cursor()._run(statement, parameters, tensors, _frame_of_caller() if self._scope else None)

    def executemany(self, statement, sequence, /):
        """Runs a statement once for each sequence of parameters; returns a Cursor."""
        return self.cursor().executemany(statement, sequence)

    def executescript(self, script, /):
        """Runs statements separated by semicolons, up to the first error; returns a Cursor at the result of the last."""
        return self.cursor().executescript(script)

    def einsum(self, query, parameters=(), /, **tensors):
        """The array that a query gives: db.einsum('Z[i,k] = SUM(A[i,j] * X[j,k])', A=array).

        query: EINSUM, or what stands after the word; also WITH ... EINSUM and GRADIENT OF ... with one result.
        Arguments and errors are those of execute.
        """
        frame = _frame_of_caller() if self._scope else None
        with self._lock:
            return self.cursor()._run(_whole_query(query), parameters, tensors, frame)._take_array()

    def explain(self, query, parameters=(), /, *, analyze=False, format="text", **tensors):
        """The plan of a query, as text that notebooks show in a fixed width.

        query: as for einsum, or a query of SQL.
        analyze: whether it is run, for the measured figures. format: "text", "json", "dot", or
        "html", a page that notebooks show as a picture.
        """
        if format not in ("text", "json", "dot", "html"):
            raise ValueError(f"the plan is text, json, dot or html, not {format!r}")
        options = ("ANALYZE, " if analyze else "") + f"FORMAT {format}"
        frame = _frame_of_caller() if self._scope else None
        cursor = self.cursor()._run(f"EXPLAIN ({options}) {_whole_query(query)}", parameters, tensors, frame)
        return PlanText("\n".join(str(row[0]) for row in cursor))

    def grad(self, loss, wrt, /, **tensors):
        """Derivatives of one number by all cells of tensors: db.grad('L[] = SUM((P[i] - Y[i])^2)', ['P'], P=p, Y=y).

        loss: the definition of a real number. wrt: the name of a tensor, or several.
        Returns an array, or a dict of them by name, of the shapes of the tensors.
        """
        names = [wrt] if isinstance(wrt, str) else list(wrt)
        for name in names:
            check_name(name)
        frame = _frame_of_caller() if self._scope else None
        gradients = {}
        with self._lock:
            for name in names:
                statement = f"GRADIENT OF {loss} WITH RESPECT TO ({name})"
                gradients[name] = self.cursor()._run(statement, (), tensors, frame).numpy()
        return gradients[wrt] if isinstance(wrt, str) else gradients

    def cancel(self):
        """Stops the statement that another thread runs, which raises OperationalError."""
        self._open().cancel()

    @property
    def progress(self):
        """(stage, done, total) of the statement that another thread runs; total is 0 where it is not known. None where no
        statement runs, or where it has not told of any."""
        return self._open().progress

    # ---- DB-API --------------------------------------------------------------------------------------------------

    def cursor(self):
        """A Cursor without a result."""
        self._open()
        cursor = Cursor(self)
        with self._cursors_lock:
            self._cursors.add(cursor)
        return cursor

    @property
    def in_transaction(self):
        """Whether BEGIN has opened a transaction. Outside of one each statement is a transaction of its own."""
        with self._lock:
            return self._open().in_transaction

    def commit(self):
        """Ends the open transaction, if there is one, and keeps what it has changed."""
        with self._lock:
            if self.in_transaction:
                self._open().execute("COMMIT", (), {})

    def rollback(self):
        """Ends the open transaction, if there is one, and takes back what it has changed."""
        with self._lock:
            if self.in_transaction:
                self._open().execute("ROLLBACK", (), {})

    def close(self):
        """Rolls an open transaction back and closes; cursors and tensors of the connection cannot be used any more."""
        with self._lock:
            if self._connection is None:
                return
            self.rollback()
            with self._cursors_lock:
                cursors = list(self._cursors)
            for cursor in cursors:
                cursor.close()
            self._connection = None

    def __enter__(self):
        self._open()
        return self

    def __exit__(self, kind, error, traceback):
        if self._connection is None:
            return
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def _open(self):
        if self._connection is None:
            raise errors.InterfaceError("the connection is closed")
        return self._connection

    # ---- Tensors -------------------------------------------------------------------------------------------------

    def tensors(self):
        """The names of the stored tensors, in alphabetical order."""
        with self._lock:
            return self._open().tensor_names()

    def store(self, name, array, labels=None, type=None, names=None):
        """Stores an array, a frame, a matrix of scipy.sparse, or the result of an Expression, as a tensor, in the place of
        one of that name. Of a sparse matrix the cells alone are read.

        array: of what hands rows over by Arrow (tables of polars and pyarrow, relations of DuckDB) the columns are labels, of
            integers or of texts, days and times, which are names, and val, or else the last one. Cells without a row are 0.
            Of a Series or DataFrame of pandas the levels of index and columns are dimensions, of a DataArray of xarray
            its dims; their keys are names of indices, unless they are 0, 1, 2, ... A StoredTensor, of any connection, is
            copied with its labels and names.
        labels: names of its dimensions, for SQL; else those of the frame, or i, j, k, ... Of an expression, its Labels in
            the order wanted.
        type: what it is stored in: 'FLOAT32', 'BFLOAT16', 'INT8', ...; else what holds the array's dtype.
        names: of the indices of an array, by label: {'city': ['Oslo', 'Bergen'], 'day': pandas.date_range(...)}. An
            array or index of days or times at even steps becomes a calendar.
        Raises ValueError for labels and names that do not fit, among them names that occur twice.
        """
        quoted = sql_name(name)
        if names is not None and (isinstance(array, Expression) or _sparse.is_sparse(array)):
            raise ValueError("names are for arrays: expressions have those of their tensors, sparse matrices none")
        if isinstance(array, Expression):
            return self._store_expression(name, array, labels, type)
        if _sparse.is_sparse(array):
            return self._store_cells(name, array, labels, type)
        if _arrow.has_arrow(array) and not _is_array(array) and not _frames.is_frame(array):
            given = _arrow.input_of(array)
            if given.has_rows:
                return self._store_rows(name, given, labels, type, names)
            array = given.array()
        known = None
        if _frames.is_frame(array):
            array, dims, known = _frames.parts_of(array)
            labels = usable_labels(dims) if labels is None else labels
        elif isinstance(array, Changed):
            known = [of_one and of_one.to_store() for of_one in array.tensor._read_names()]
            labels = array.tensor.labels
            array = array.values
        elif isinstance(array, StoredTensor):
            known = [of_one and of_one.to_store() for of_one in array._read_names()]
            labels = array.labels if labels is None else labels
        values = bindable(array)
        labels = default_labels(values.ndim) if labels is None else [check_name(label) for label in labels]
        if len(labels) != values.ndim:
            raise ValueError(f"{len(labels)} labels for an array of {values.ndim} dimensions")
        if len(set(labels)) < len(labels):
            raise ValueError(f"the labels {', '.join(labels)} are not distinct")
        by_label = dict(zip(labels, known or [None] * len(labels)))
        for label, given in (names or {}).items():
            if label not in by_label:
                raise ValueError(f"names are given for {label!r}, which is no label of {', '.join(labels)}")
            by_label[label] = given
        stored = stored_type(array) if type is None else check_name(type)
        if any(given is not None for given in by_label.values()):
            return self._store_named(name, values, by_label, stored)
        indices = "[" + ",".join(labels) + "]"
        statement = f"CREATE OR REPLACE TENSOR {quoted} {stored} AS EINSUM {quoted}{indices} = {_INPUT}{indices}"
        with self._lock:
            self._open().execute(statement, (), {_INPUT: values})

    def load(self, name, rows):
        """Fills a stored tensor anew with the cells that rows name, or adds rows to a table: all of them or none. Returns
        how many there were.

        rows: what hands itself over by __arrow_c_stream__ or __arrow_c_array__: tables of polars and pyarrow, relations of
            DuckDB, cursors. Columns are found by their names; those of a tensor are its labels and val. Cells without a row
            are 0.
        Raises ProgrammingError for a table or column that is not there, DataError for a cell that is none or occurs twice.
        """
        if not _arrow.has_arrow(rows):
            raise TypeError(f"{type(rows).__name__} has no rows to hand over by Arrow: db.store takes arrays and frames")
        check_name(name)
        given = _arrow.input_of(rows)
        with self._lock:
            return self._open().load(name, given)

    def _store_rows(self, name, rows, labels, type, names):
        """A tensor of rows that have a column for each label, and val, the last column where none is called so."""
        if names is not None:
            raise ValueError("names are for arrays: those of rows are the texts in their columns")
        columns = dict(rows.columns)
        if len(columns) < len(rows.columns):
            raise ValueError("two columns have one name")
        value = next((column for column in columns if column.lower() == "val"), list(columns)[-1] if columns else None)
        found = [column for column in columns if column != value]
        labels = usable_labels(found) if labels is None else [check_name(label) for label in labels]
        if len(labels) != len(found):
            raise ValueError(f"{len(labels)} labels for {len(found)} columns beside {value}")
        stored = check_name(type) if type is not None else "FLOAT64" if columns.get(value) == "REAL" else "INT64"
        quoted = {column: '"' + column.replace('"', '""') + '"' for column in columns}
        declared = ", ".join(f"{quoted[column]} {kind}" for column, kind in columns.items())
        with self._whole():
            connection = self._open()
            connection.execute(f"CREATE TEMP TABLE {_ROWS} ({declared})", (), {})
            connection.load(_ROWS, rows)
            parts = []
            for label, column in zip(labels, found):
                if columns[column] == "INTEGER":
                    most = connection.execute(f"SELECT MAX({quoted[column]}) FROM {_ROWS}", (), {}).fetch(1)[0][0]
                    parts.append(f"{label} {0 if most is None else max(0, most + 1)}")
                else:
                    parts.append(f"{label} IN (SELECT DISTINCT {quoted[column]} FROM {_ROWS} ORDER BY 1)")
            selected = ", ".join(quoted[column] for column in (*found, value))
            connection.execute(
                f"CREATE OR REPLACE TENSOR {sql_name(name)} ({', '.join(parts)}) {stored} AS SELECT {selected} FROM {_ROWS}", (), {}
            )
            connection.execute(f"DROP TABLE {_ROWS}", (), {})

    def _store_named(self, name, values, names, stored):
        parameters = []
        dimensions = ", ".join(
            _names.dimension(label, extent, given, parameters) for (label, given), extent in zip(names.items(), values.shape)
        )
        quoted = sql_name(name)
        create = f"CREATE OR REPLACE TENSOR {quoted} ({dimensions}) {stored or computed_type(values.dtype)}"
        indices = "[" + ",".join(default_labels(values.ndim)) + "]"
        with self._whole():
            self._open().execute(create, tuple(parameters), {})
            self._open().execute(f"UPDATE TENSOR {quoted}{indices} = {_INPUT}{indices}", (), {_INPUT: values})

    def _store_cells(self, name, matrix, labels, type):
        labels = [] if labels is None else [check_name(label) for label in labels]
        if len(labels) not in (0, matrix.ndim):
            raise ValueError(f"{len(labels)} labels for a matrix of {matrix.ndim} dimensions")
        with self._whole():
            if name in self:
                del self[name]
            _sparse.copy_from(self, name, matrix)
            if type is not None:
                self.execute(f"ALTER TENSOR {sql_name(name)} TYPE {check_name(type)}")
            # By way of names that no label has, since labels may change places.
            between = [f"python_label_{n}" for n in range(len(labels))]
            for old, new in zip(default_labels(len(labels)) + between, between + labels):
                self.execute(f"ALTER TENSOR {sql_name(name)} RENAME LABEL {old} TO {new}")

    @contextlib.contextmanager
    def _whole(self):
        """Statements that happen whole or not at all, in the open transaction or in one of their own."""
        with self._lock:
            connection = self._open()
            own = not connection.in_transaction
            connection.execute("BEGIN" if own else "SAVEPOINT python_whole_", (), {})
            try:
                yield
            except BaseException:
                if connection.in_transaction:  # which an interrupt may have ended
                    connection.execute("ROLLBACK" if own else "ROLLBACK TO python_whole_", (), {})
                raise
            connection.execute("COMMIT" if own else "RELEASE python_whole_", (), {})

    def _store_expression(self, name, expression, labels, type):
        if expression._database not in (None, self):
            raise ValueError("an expression reads the tensors of another connection")
        query, arrays = expression._query(name, labels or ())
        stored = "" if type is None else check_name(type)
        with self._lock:
            self._open().execute(f"CREATE OR REPLACE TENSOR {sql_name(name)} {stored} AS EINSUM {query}", (), arrays)

    def __getitem__(self, name):
        return StoredTensor(self, name)

    def __setitem__(self, name, array):
        self.store(name, array)

    def __delitem__(self, name):
        with self._lock:
            if not self.__contains__(name):
                raise KeyError(name)
            self._open().execute(f"DROP TENSOR {sql_name(name)}", (), {})

    def __contains__(self, name):
        return isinstance(name, str) and name.lower() in {known.lower() for known in self.tensors()}

    def __iter__(self):
        return iter(self.tensors())

    def __len__(self):
        return len(self.tensors())

    def __repr__(self):
        return "<eindb.Connection, closed>" if self._connection is None else "<eindb.Connection>"

    # ---- For cursors ---------------------------------------------------------------------------------------------

    def _execute(self, statement, parameters, tensors, frame):
        """The result of a statement. Names that it lacks are looked up among the variables of the frame."""
        if not isinstance(statement, str):
            raise TypeError(f"a statement is a str, not {type(statement).__name__}")
        if "?" in statement:
            statement = numbered_parameters(statement)
        if parameters:
            parameters = tuple(value if type(value) in _PLAIN else parameter(value) for value in parameters)
        bound = {}
        if tensors:
            bind = _binding(statement)
            bound = {name: bind(array) for name, array in tensors.items()}
        with self._lock:
            connection = self._open()
            while True:
                try:
                    return connection.execute(statement, parameters, bound)
                except (ValueError, OverflowError, TypeError, RuntimeError) as error:
                    if isinstance(error, errors.Error):
                        raise
                    raise errors.of_call(error) from None
                except errors.ProgrammingError as error:
                    missing = _UNKNOWN.search(error.message) if frame is not None else None
                    name = missing and (missing[1] or missing[2])
                    if not name or name in bound:
                        raise
                    found = _variable(frame, name)
                    if found is None:
                        value = frame.f_locals.get(name, frame.f_globals.get(name))
                        if value is None or isinstance(value, (Cursor, StoredTensor)) or callable(value):
                            raise
                        what = f"{name} is a variable, but a {type(value).__name__} and no array"
                        raise errors.ProgrammingError(f"{error.message}: {what}; pass it by its name, {name}={name}") from error
                    bound[name] = _binding(statement)(found)


_INPUT = "python_input_"
_ROWS = "python_rows_"


# What statements take as it is.
_PLAIN = {int, float, str, bool, complex, bytes, type(None)}
# Statements whose rows are read later.
_ROWS_OF_SQL = re.compile(r"\s*(?:SELECT|VALUES|WITH)\b", re.IGNORECASE)
_EINSUM = re.compile(r"\bEINSUM\b", re.IGNORECASE)

# A definition, or index notation's operands between quotation marks, without the word before it.
_DEFINITION = re.compile(r"""\s*(?:(?:\w+|"[^"]*")\s*[\[=]|')""")


def _binding(statement):
    """How arrays are given to a statement. Rows of SQL are read one by one later, when the arrays may have changed."""
    return _copied if _ROWS_OF_SQL.match(statement) and not _EINSUM.search(statement) else bindable


def _copied(array):
    """The array on memory of its own; cells of sparse matrices are copied by the engine."""
    bound = bindable(array)
    return bound if isinstance(bound, tuple) else numpy.array(bound)


def _whole_query(query):
    """The query, with EINSUM before a definition that stands alone."""
    return "EINSUM " + query if _DEFINITION.match(query) else query


def _is_array(value):
    return hasattr(value, "__array__") or hasattr(value, "__array_interface__")


def _path_text(database):
    return database if isinstance(database, str) else str(database.__fspath__())


def _frame_of_caller():
    """The frame of whoever called the method that calls this."""
    return sys._getframe(2)


def _variable(frame, name):
    """The array that is a variable of that name; None if there is none."""
    for variables in (frame.f_locals, frame.f_globals):
        if name in variables:
            value = variables[name]
            is_array = hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__")
            is_array = is_array or _sparse.is_sparse(value)
            is_array = is_array or (_arrow.has_arrow(value) and not isinstance(value, (Cursor, StoredTensor)))
            return value if is_array else None
    return None
