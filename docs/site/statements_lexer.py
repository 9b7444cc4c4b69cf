"""Highlighting of eindb's statements, and of notebook cells that may have them, for Pygments."""

import os
import re

from pygments.lexer import Lexer, RegexLexer, bygroups, words
from pygments.lexers.python import PythonConsoleLexer, PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

_COMPLETION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shell", "completion.cpp")
_TYPES = (
    "BF16 BFLOAT16 BLOB BOOL BOOLEAN COMPLEX128 COMPLEX64 DOUBLE E4M3 E5M2 FLOAT16 FLOAT32 FLOAT64 FLOAT8_E4M3 FLOAT8_E5M2 HALF "
    "INT16 INT32 INT64 INT8 INTEGER JSON NUMERIC Q4_0 Q8_0 REAL TEXT UINT16 UINT32 UINT8 VARCHAR"
).split()
_CONSTANTS = "PI INFINITY NAN NULL TRUE FALSE".split()
# Words of SQL that statements of eindb lack, so that the shell does not complete them.
_SQL = (
    "ADD AFTER ASC AUTOINCREMENT BACKUP BEFORE BETWEEN CHECK COLUMN CONFLICT CONSTRAINT CROSS DATABASE DATE DEFAULT DO EACH "
    "EXCEPT FILTER FIRST FOR FOREIGN FULL FUNCTION IMMEDIATE IN INNER INTERSECT IS KEY LAST LEFT LIKE MATERIALIZED NATURAL NEW "
    "NOTHING NULLS OLD ON OUTER PRAGMA PRIMARY RECURSIVE REFERENCES RELEASE RETURNING RIGHT ROW ROWS SAVEPOINT STATISTICS TEMP "
    "TEMPORARY TRIGGER TYPE UNIQUE VACUUM VIRTUAL WITHOUT"
).split()

# Words that may have parentheses behind them without being functions.
_BEFORE_PARENTHESES = "AND AS BY FILTER FROM IN KEY NOT OF ON OR TO UNIQUE VALUES WHERE".split()


def completed_words():
    """The words that the shell completes, as shell/completion.cpp lists them."""
    with open(_COMPLETION, encoding="utf-8") as file:
        table = re.search(r"kWords = \{(.*?)\};", file.read(), re.DOTALL)
    if table is None:
        raise ValueError("shell/completion.cpp has no list kWords any more: say here where the words are")
    return re.findall(r'"(\w+)"', table[1])


_KEYWORDS = sorted({*completed_words(), *_SQL} - {*_TYPES, *_CONSTANTS})


class StatementsLexer(RegexLexer):
    """EINSUM and SQL, with dot commands of the shell."""

    name = "eindb"
    aliases = ["eindb", "einsum"]
    flags = re.IGNORECASE | re.MULTILINE
    tokens = {
        "root": [
            (r"\s+", Whitespace),
            (r"--[^\n]*", Comment.Single),
            (r"/\*(?:.|\n)*?\*/", Comment.Multiline),
            (r"^\.\w+[^\n]*", Comment.Preproc),
            (r"'(?:[^']|'')*'", String.Single),
            (r'"(?:[^"]|"")*"', Name),
            (r"[$?]\d+|\?", Name.Variable),
            (r"(?:\d+\.\d*|\.\d+)(?:e[+-]?\d+)?|\d+e[+-]?\d+", Number.Float),
            (r"\d+", Number.Integer),
            # A call: SUM(...), MEAN[j](...). What has brackets and no argument behind them is a tensor.
            (words(_KEYWORDS, suffix=r"(?=\s*\[[^\[\]]*\]\s*\()", prefix=r"\b"), Name.Function),
            (r"[^\W\d]\w*(?=\s*\[)", Name),
            (words(_TYPES, suffix=r"\b", prefix=r"\b"), Keyword.Type),
            (words(_CONSTANTS, suffix=r"\b", prefix=r"\b"), Keyword.Constant),
            (r"(\b(?:" + "|".join(w for w in _KEYWORDS if w not in _BEFORE_PARENTHESES) + r"))(\()",
             bygroups(Name.Function, Punctuation)),
            (words(_KEYWORDS, suffix=r"\b", prefix=r"\b"), Keyword),
            (r"[^\W\d]\w*", Name),
            (r"[-+*/%^=<>|&~!:]+", Operator),
            (r"[()\[\]{},;.]", Punctuation),
        ]
    }  # fmt: skip


class NotebookLexer(Lexer):
    """A cell of a notebook: Python, or statements below %%eindb and %%einsum."""

    name = "eindb notebook"
    aliases = ["ipython"]
    _MAGIC = re.compile(r"%%ein(?:db|sum)[^\n]*\n?")

    def get_tokens_unprocessed(self, text):
        magic = self._MAGIC.match(text)
        if magic:
            yield 0, Comment.Preproc, magic[0]
            begin, lexer = magic.end(), StatementsLexer()
        else:
            begin, lexer = 0, PythonLexer()
            line = re.match(r"%[^\n]*\n?", text)
            if line:
                yield 0, Comment.Preproc, line[0]
                begin = line.end()
        for at, token, value in lexer.get_tokens_unprocessed(text[begin:]):
            yield begin + at, token, value


def setup(app):
    """For Sphinx: blocks that are marked as sql are eindb's statements."""
    app.add_lexer("sql", StatementsLexer)
    app.add_lexer("eindb", StatementsLexer)
    app.add_lexer("ipython", NotebookLexer)
    app.add_lexer("pycon", PythonConsoleLexer)
    return {"parallel_read_safe": True}
