#!/usr/bin/python3
"""gallery_test.py FOLDER: runs the notebooks of examples/notebooks, whose cells check themselves. FOLDER has the program."""
import glob
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
GALLERY = os.path.join(HERE, "..", "..", "examples", "notebooks")
sys.path.append(GALLERY)

import notebooks  # noqa: E402  (found by the path above)

try:
    import IPython
    import pandas
    import scipy
except ImportError:
    IPython = pandas = scipy = None

PATHS = {os.path.basename(path)[:-3]: path for path in glob.glob(os.path.join(GALLERY, "*.md"))}
PATHS.pop("README")


@unittest.skipIf(IPython is None, "there is no IPython, SciPy or pandas")
class Gallery(unittest.TestCase):
    """A test for each notebook, which is called after it."""

    def run_notebook(self, path):
        parts = notebooks.read(path)
        with notebooks.Session() as session:
            for number, (kind, body) in enumerate(parts):
                if kind == "cell":
                    try:
                        session.run(body)
                    except notebooks.Failed as error:
                        self.fail(f"part {number} of {path}:\n{body}\n{error}")


for name, path in PATHS.items():
    setattr(Gallery, f"test_{name}", lambda self, path=path: self.run_notebook(path))


class Files(unittest.TestCase):
    def test_the_list_is_whole(self):
        with open(os.path.join(GALLERY, "README.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertGreaterEqual(len(PATHS), 10)
        for name, path in PATHS.items():
            self.assertIn(f"]({name}.md)", text)
            kinds = [kind for kind, _ in notebooks.read(path)]
            self.assertEqual(kinds[0], "text", name)
            self.assertGreater(kinds.count("cell"), 5, name)

    def test_files_for_jupyter(self):
        text = "# Title\n\nWords.\n\n```python\nx = 1\nx\n```\n\n```text\nno cell\n```\n\n```python\n%%eindb\nSELECT 1\n```\n"
        parts = notebooks.parts_of(text)
        self.assertEqual([kind for kind, _ in parts], ["text", "cell", "text", "cell"])
        written = json.loads(notebooks.as_ipynb(parts))
        self.assertEqual(written["cells"][1]["source"], ["x = 1\n", "x"])
        self.assertEqual(written["cells"][0]["cell_type"], "markdown")
        self.assertEqual((written["nbformat"], written["nbformat_minor"]), (4, 5))
        self.assertEqual(len({cell["id"] for cell in written["cells"]}), len(parts))

    @unittest.skipIf(IPython is None, "there is no IPython, SciPy or pandas")
    def test_what_cells_show(self):
        with notebooks.Session() as session:
            self.assertEqual(session.run("print('a'); 5"), [{"text/plain": "a\n"}, {"text/plain": "5"}])
            self.assertEqual(session.run("x = 1"), [])
            self.assertRaisesRegex(notebooks.Failed, "ZeroDivisionError", session.run, "x / 0")


if __name__ == "__main__":
    os.environ["PATH"] = os.pathsep.join([os.path.abspath(sys.argv.pop(1)), os.environ["PATH"]])
    unittest.main()
