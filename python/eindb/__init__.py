"""eindb: einsums over arrays and over tensors that a database stores.

    >>> import numpy, eindb
    >>> eindb.einsum('ij,jk->ik', numpy.ones((2, 3)), numpy.ones((3, 2)))
    array([[3., 3.],
           [3., 3.]])
"""

import datetime
import importlib
import os

from . import _eindb
from ._arrow import ArrowTensor
from ._contract import ContractExpression, array_contract, contract, contract_expression, tensordot, transpose
from ._cursor import Cursor, Tensor
from ._database import Connection, connect
from ._eindb import einsum
from ._expressions import Expression, Label, labels, operand
from ._paths import PathInfo, contract_path, einsum_path
from ._stored import StoredTensor
from .errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)

# What DB-API 2.0 wants of a module: threads may share it and connections; parameters are question marks, or $1.
apilevel = "2.0"
threadsafety = 2
paramstyle = "qmark"
# Days and times are texts in a database: what DB-API calls them is what Python does.
#: The bytes of a BLOB.
Binary = bytes
#: A day, as a parameter.
Date = datetime.date
#: A time of a day, as a parameter.
Time = datetime.time
#: A day and a time, as a parameter.
Timestamp = datetime.datetime
#: The day of a number of seconds since 1970.
DateFromTicks = datetime.date.fromtimestamp
#: The day and the time of such a number.
TimestampFromTicks = datetime.datetime.fromtimestamp
__version__ = _eindb.library_version


def __getattr__(name):
    # PyTorch and opt_einsum are imported where they are wanted.
    if name == "torch":
        return importlib.import_module(".torch", __name__)
    if name == "path_optimizer":
        return importlib.import_module("._path_optimizer", __name__).path_optimizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell):
    """What %load_ext eindb calls: adds the magics %eindb, %%eindb, %einsum and %%einsum to IPython."""
    from ._notebook import EindbMagics

    shell.register_magics(EindbMagics)


_eindb.prepare()
# A child of fork() has none of its parent's threads.
os.register_at_fork(after_in_child=_eindb.renew_pool)

__all__ = [
    "ArrowTensor", "Binary", "Connection", "ContractExpression", "Cursor", "DataError", "DatabaseError", "Date", "DateFromTicks", "Error", "Expression", "IntegrityError",
    "InterfaceError", "InternalError", "Label", "NotSupportedError", "OperationalError", "PathInfo",
    "ProgrammingError", "StoredTensor", "Tensor", "Time", "Timestamp", "TimestampFromTicks", "Warning", "apilevel", "array_contract", "connect", "contract", "contract_expression",
    "contract_path", "einsum", "einsum_path", "labels", "operand", "paramstyle", "tensordot", "threadsafety",
    "transpose",
]  # fmt: skip
