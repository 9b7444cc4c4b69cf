#!/usr/bin/python3
"""notebooks.py [--ipynb FOLDER] NOTEBOOK...: runs notebooks, or with --ipynb writes them for Jupyter, without running them.

A notebook is a text in Markdown whose ```python blocks are its cells, as Jupytext has them: Jupyter opens it by Jupytext, or
as the .ipynb file that is made of it. Cells run in order, in a folder of their own, in a shell of IPython; the first one that
fails ends the run. The program `eindb`, which some cells start, is looked for in PATH.
"""

import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile

_CELL = re.compile(r"^```python\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)


def parts_of(text):
    """The parts of a notebook in order: ("text", Markdown) and ("cell", code)."""
    parts, end = [], 0
    for cell in _CELL.finditer(text):
        parts += [("text", text[end : cell.start()].strip()), ("cell", cell[1].rstrip("\n"))]
        end = cell.end()
    parts.append(("text", text[end:].strip()))
    return [(kind, body) for kind, body in parts if body]


def read(path):
    """The parts of the notebook in a file."""
    with open(path, encoding="utf-8") as file:
        return parts_of(file.read())


class Failed(Exception):
    """A cell that failed, with what it has printed and the error."""


class Session:
    """A shell of IPython in which the cells of one notebook run.

    pictures: whether figures of matplotlib are drawn, as SVG. As a context manager it works in a new folder.
    """

    def __init__(self, pictures=False):
        self._pictures = pictures

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        folder = self._stack.enter_context(tempfile.TemporaryDirectory())
        self._stack.callback(os.chdir, os.getcwd())
        os.chdir(folder)
        os.environ["MPLBACKEND"] = "Agg"
        self._shell, self._shown = _shell(folder)
        return self

    def __exit__(self, *error):
        self._shell.user_ns.clear()  # closes the databases in the folder
        self._stack.close()

    def run(self, code):
        """What a cell shows, each as a dict from a type of MIME to the text of it. Raises Failed."""
        self._shown.clear()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            done = self._shell.run_cell(code)
        if not done.success:
            raise Failed(printed.getvalue())
        outputs = [{"text/plain": printed.getvalue()}] if printed.getvalue() else []
        return outputs + list(self._shown) + (self._figures() if self._pictures else [])

    def _figures(self):
        if "matplotlib.pyplot" not in sys.modules:
            return []
        import matplotlib.pyplot as plt

        drawn = []
        for number in plt.get_fignums():
            figure, file = plt.figure(number), io.StringIO()
            titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
            with plt.rc_context({"svg.hashsalt": "eindb"}):  # the same picture in each run
                figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
            drawn.append({"image/svg+xml": file.getvalue(), "text/plain": "; ".join(titles) or "a figure"})
        plt.close("all")
        return drawn


def _shell(folder):
    """A shell of IPython, and the list to which it appends what cells show."""
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets import Type
    from traitlets.config import Config

    shown = []

    class Hook(DisplayHook):
        def __call__(self, result=None):
            if result is not None and not self.quiet():
                shown.append(self.compute_format_data(result)[0])

    class Publisher(DisplayPublisher):
        def publish(self, data, *arguments, **keywords):
            shown.append(data)

    class Shell(InteractiveShell):
        displayhook_class = Type(Hook)
        display_pub_class = Type(Publisher)

    shell = Shell(ipython_dir=folder, config=Config(HistoryManager={"enabled": False}, InteractiveShell={"colors": "NoColor"}))
    return shell, shown


def as_ipynb(parts):
    """The notebook as the JSON of Jupyter's format 4.5, without outputs."""

    def cell(number, kind, body):
        begin = {"id": f"cell-{number}", "metadata": {}, "source": body.splitlines(keepends=True)}
        if kind == "text":
            return {"cell_type": "markdown", **begin}
        return {"cell_type": "code", **begin, "execution_count": None, "outputs": []}

    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": [cell(number, *part) for number, part in enumerate(parts)],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main():
    arguments = argparse.ArgumentParser(usage="%(prog)s [--ipynb FOLDER] NOTEBOOK...")
    arguments.add_argument("--ipynb", metavar="FOLDER", help="where to write them for Jupyter")
    arguments.add_argument("notebooks", nargs="+")
    options = arguments.parse_args()
    for path in map(os.path.abspath, options.notebooks):
        parts = read(path)
        if all(kind == "text" for kind, _ in parts):
            continue  # a README
        if options.ipynb:
            name = os.path.splitext(os.path.basename(path))[0] + ".ipynb"
            with open(os.path.join(options.ipynb, name), "w", encoding="utf-8") as file:
                file.write(as_ipynb(parts))
            continue
        with Session() as session:
            for kind, body in parts:
                if kind == "cell":
                    for output in session.run(body):
                        print(output["text/plain"].rstrip("\n"))


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(str(error))
