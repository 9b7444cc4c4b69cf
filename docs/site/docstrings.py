"""Docstrings and stubs of the package eindb, for Sphinx's autodoc.

A docstring is plain text: paragraphs, in which `name: ...` at the beginning of a line describes a parameter or an attribute and
Returns and Raises begin a sentence of their own, and indented blocks of code. The types of signatures are those of the stubs.
"""

import ast
import inspect
import os
import re

_ITEM = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*): (.*)")
_SENTENCE = re.compile(r"(Returns|Raises|Arguments)\b")
_SPECIAL = re.compile(r"([\\*`|]|(?<=\w)_(?!\w))")


def as_restructured(lines):
    """The lines of a docstring as reStructuredText."""
    out = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc("\n".join(lines))):
        if block.startswith((" ", ">>>")):
            language = "pycon" if ">>>" in block else "python"
            out += ["", f".. code-block:: {language}", "", *("   " + line for line in inspect.cleandoc(block).split("\n")), ""]
        elif block:
            out += ["", *_paragraph(block.split("\n")), ""]
    return out


def _paragraph(lines):
    if lines[0] == "Attributes:":
        lines = inspect.cleandoc("\n" + "\n".join(lines[1:])).split("\n")
    out, indent = [], ""
    for line in lines:
        item = _ITEM.fullmatch(line)
        text = _escaped(line.strip())
        if item:
            out += [] if indent else [""]
            indent = "  "
            out.append(f"- ``{item[1]}``: {_escaped(item[2])}")
        elif _SENTENCE.match(line):
            indent = ""
            out += ["", text]
        else:
            out.append(indent + text)
    return out


def _escaped(text):
    """Text without signs that reStructuredText takes for its own, but for code in backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\1", text)
    return "".join(f"``{part}``" if n % 2 else _SPECIAL.sub(r"\\\1", part) for n, part in enumerate(parts))


class Stub:
    """The signatures of a stub, by the qualified names of functions."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        self._aliases, self._functions = {}, {}
        self._read(tree, "")

    def signature(self, name, function):
        """(arguments, result) as text, with the defaults of the function where it tells them; None where there is none."""
        found = self._functions.get(name)
        if found is None:
            return None
        try:
            defaults = {p.name: repr(p.default) for p in inspect.signature(function).parameters.values()}
        except (TypeError, ValueError):
            defaults = {}
        arguments = ast.unparse(self._filled(found.args, defaults))
        arguments = re.sub(r"^self(, /)?(, )?", "", arguments)
        return f"({arguments})", self._expanded(ast.unparse(found.returns)) if found.returns else None

    def _read(self, tree, prefix):
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                self._read(node, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                self._functions[prefix + node.name] = node
            elif isinstance(node, ast.AnnAssign) and node.value is not None and ast.unparse(node.annotation) == "TypeAlias":
                self._aliases[node.target.id] = ast.unparse(node.value)

    def _filled(self, arguments, defaults):
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
            if argument is not None and argument.annotation is not None:
                argument.annotation = ast.Name(self._expanded(ast.unparse(argument.annotation)))
        positional = [*arguments.posonlyargs, *arguments.args]
        for n, argument in enumerate(positional[len(positional) - len(arguments.defaults) :]):
            arguments.defaults[n] = ast.Name(defaults.get(argument.arg, "..."))
        for n, argument in enumerate(arguments.kwonlyargs):
            if arguments.kw_defaults[n] is not None:
                arguments.kw_defaults[n] = ast.Name(defaults.get(argument.arg, "..."))
        return arguments

    def _expanded(self, text):
        names = "|".join(map(re.escape, self._aliases))
        expanded = re.sub(rf"\b(?:{names})\b", lambda name: self._aliases[name[0]], text) if names else text
        return expanded if expanded == text else self._expanded(expanded)


def setup(app):
    """For Sphinx."""
    import eindb

    stub = Stub(os.path.join(os.path.dirname(eindb.__file__), "__init__.pyi"))

    def process_docstring(app, kind, name, thing, options, lines):
        lines[:] = as_restructured(lines)

    def process_signature(app, kind, name, thing, options, arguments, result):
        short = name.removeprefix("eindb.")
        if kind == "class":
            return ("", None) if arguments in (None, "()") or "database" not in arguments else None
        return stub.signature(short, thing) if kind in ("function", "method") else None

    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
    return {"parallel_read_safe": True}
