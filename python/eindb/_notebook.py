"""Magics of IPython: databases and statements in notebooks. Imported by %load_ext eindb alone, since it needs IPython."""

import contextlib
import os
import re
import sqlite3
import sys
import threading
import types

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from . import errors
from ._database import Connection, connect

_DELAY, _INTERVAL = 2.0, 0.5  # seconds before progress is shown, and between two times
_BAR = 30
# Texts, names in quotes and comments, in which a semicolon ends nothing; and what may end a statement.
_MARKS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|[;{}]", re.DOTALL)
_NOTHING = re.compile(r"(?:\s|;|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_TRIGGER = re.compile(r"\s*CREATE\s+(?:TEMP\w*\s+)?TRIGGER\b", re.IGNORECASE)
_HEAD = re.compile(r"\s*\w+\s*\[")
_BINDING = re.compile(r"([^\W\d]\w*)\s*<<")


@magics_class
class EindbMagics(Magics):
    """%eindb, %%eindb, %einsum and %%einsum. All of them use one connection: that of %eindb, else one in memory."""

    def __init__(self, shell):
        super().__init__(shell)
        self._connection = None

    @line_cell_magic
    @no_var_expand
    def eindb(self, line, cell=None):
        """%eindb my.db opens a database, %eindb db takes a Connection that is a variable; both give the Connection.

        %%eindb runs the statements of the cell, EINSUM and SQL, and gives a Cursor at the result of the last, which shows
        its first rows. %%eindb name << makes it a variable instead. Arrays that are variables are tensors of their names.
        """
        return self._connected(line.strip()) if cell is None else self._run(line, cell)

    @line_cell_magic
    @no_var_expand
    def einsum(self, line, cell=None):
        """%einsum Z[i] = SUM(X[i,j]) and %%einsum: as %%eindb; the word EINSUM may be left out of the first statement."""
        text = line if cell is None else cell
        return self._run("" if cell is None else line, "EINSUM " + text if _HEAD.match(text) else text)

    def _connected(self, name=""):
        given = self.shell.user_ns.get(name)
        if isinstance(given, Connection):
            self._connection = given
        elif name or self._connection is None:
            path = os.path.expanduser(name.strip("'\"")) or ":memory:"
            is_new = path != ":memory:" and not os.path.exists(path) and not os.path.splitext(path)[1]
            if name.startswith("-") or is_new:
                raise UsageError(f"{name} is neither a Connection, nor a file: a new one has an ending, as in %eindb my.db")
            self._connection = connect(path)
        return self._connection

    def _run(self, line, text):
        binding = _BINDING.fullmatch(line.strip())
        if line.strip() and not binding:
            raise UsageError("behind %%eindb and %%einsum stands nothing, or: name <<")
        connection = self._connected()
        variables = types.SimpleNamespace(f_locals=self.shell.user_ns, f_globals={}) if connection._scope else None
        cursor = connection.cursor()
        with _errors_without_traceback(), _Progress(connection):
            for statement in statements(text):
                cursor._run(statement, (), {}, variables)
        if binding is None:
            return None if cursor._result is None else cursor
        self.shell.user_ns[binding[1]] = cursor
        return None


def statements(text):
    """The statements of a text, each behind so much white space that its lines and columns are those of the text."""
    begin = depth = 0
    ends = []
    for mark in _MARKS.finditer(text):
        depth += (mark[0] == "{") - (mark[0] == "}")
        done = text[begin : mark.end()]
        # A trigger has statements in it, and SQLite knows where it ends; a loop ends with its brace.
        is_whole = mark[0] == "}" or (mark[0] == ";" and (not _TRIGGER.match(done) or sqlite3.complete_statement(done)))
        if depth == 0 and is_whole:
            begin = mark.end()
            ends.append(begin)
    for first, last in zip([0, *ends], [*ends, len(text)]):
        if not _NOTHING.fullmatch(text, first, last):
            yield re.sub(r"[^\n]", " ", text[:first]) + text[first:last]


@contextlib.contextmanager
def _errors_without_traceback():
    """Errors of statements are shown by their text, with the place in the statement, and not by the calls that led there."""
    try:
        yield
    except errors.Error as error:
        lines = f"{type(error).__name__}: {error}".split("\n")
        error._render_traceback_ = lambda: lines  # which IPython asks for
        raise


class _Progress:
    """Shows on stderr how far the statements of a connection are, while they take long. A thread of its own asks for it."""

    def __init__(self, connection):
        self._connection = connection
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *error):
        self._done.set()
        self._thread.join()

    def _show(self):
        shown = ""
        if self._done.wait(_DELAY):
            return
        while not self._done.wait(_INTERVAL):
            progress = self._connection.progress
            line = "" if progress is None else progress_line(*progress)
            if line != shown:
                self._write("\r" + line.ljust(len(shown)))
                shown = line
        self._write("\r" + " " * len(shown) + "\r" if shown else "")

    @staticmethod
    def _write(text):
        sys.stderr.write(text)
        sys.stderr.flush()


def progress_line(stage, done, total):
    """A bar, with the share that is done if it is known."""
    if total <= 0:
        return f"{stage} {done}"
    share = min(1.0, max(0.0, done / total))
    return f"{stage} [{('#' * int(share * _BAR)).ljust(_BAR)}] {int(share * 100)}%"
