"""The exceptions of eindb, by the names of DB-API 2.0 (PEP 249).

A wrong statement is a ProgrammingError, a file or a machine that does not do its part an OperationalError. Calls of
einsum with wrong arguments raise ValueError and TypeError, as numpy.einsum does.
"""

__all__ = [
    "DatabaseError", "DataError", "Error", "IntegrityError", "InterfaceError", "InternalError", "NotSupportedError",
    "OperationalError", "ProgrammingError", "Warning",
]  # fmt: skip


class Warning(Exception):  # noqa: A001, the name is DB-API's
    """Never raised: DB-API wants the name."""


class Error(Exception):
    """Any error of eindb.

    Attributes:
        kind: what it is, in lower-case words: "syntax error", "unknown name", ...; "" where no statement is to blame.
        message: the error alone.
        hint: a suggestion; may be "".
        line, column: the place in the statement, from 1; 0 where there is none.
    """

    kind = ""
    message = ""
    hint = ""
    line = 0
    column = 0


class InterfaceError(Error):
    """A connection, cursor or result that is closed, or used as it cannot be."""


class DatabaseError(Error):
    """An error that the database tells of."""


class DataError(DatabaseError):
    """Values, shapes or types that do not fit."""


class OperationalError(DatabaseError):
    """The system, the memory limit, another connection, or a request to stop is in the way."""


class IntegrityError(DatabaseError):
    """A file is damaged."""


class InternalError(DatabaseError):
    """A bug in eindb."""


class ProgrammingError(DatabaseError):
    """A statement that is wrong: its text, its names, its labels."""


class NotSupportedError(DatabaseError):
    """What is asked is meaningful, but not supported."""


class _WrongValue(ProgrammingError, ValueError):
    """A call with values that do not fit, which is also what Python calls so."""


class _WrongType(ProgrammingError, TypeError):
    """The same of types."""


class _WrongSize(ProgrammingError, OverflowError):
    """The same of numbers that are too large."""


def of_call(error):
    """The exception for a call that Python's own classes of errors tell of."""
    kinds = {TypeError: _WrongType, OverflowError: _WrongSize}
    return next((kinds[kind] for kind in kinds if isinstance(error, kind)), _WrongValue)(str(error))


_CLASSES = {
    "syntax error": ProgrammingError,
    "unknown name": ProgrammingError,
    "duplicate name": ProgrammingError,
    "label error": ProgrammingError,
    "shape error": DataError,
    "type error": DataError,
    "invalid value": DataError,
    "null value": DataError,
    "unsupported": NotSupportedError,
    "corrupt data": IntegrityError,
    "SQL error": ProgrammingError,
    "internal error": InternalError,
}


def from_engine(kind, text, message, hint, line, column):
    """The exception for an error that the engine has thrown."""
    error = _CLASSES.get(kind, OperationalError)(text)
    error.kind, error.message, error.hint, error.line, error.column = kind, message, hint, line, column
    return error
