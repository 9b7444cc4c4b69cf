#!/usr/bin/python3
"""The package as a whole: examples of its documentation, its stubs, its version, what it leaves to be imported."""
import ast
import doctest
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import unittest

import eindb
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
GUIDE = os.path.join(HERE, "..", "..", "docs", "python.md")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Examples(unittest.TestCase):
    def test_docstrings(self):
        tried = 0
        for module in pkgutil.iter_modules(eindb.__path__):
            try:
                imported = importlib.import_module(f"eindb.{module.name}")
            except ImportError as error:
                if error.name not in ("torch", "IPython"):
                    raise
                continue
            done = doctest.testmod(imported, extraglobs={"eindb": eindb, "numpy": numpy}, optionflags=OPTIONS)
            self.assertEqual(done.failed, 0, module.name)
            tried += done.attempted
        self.assertEqual(doctest.testmod(eindb, optionflags=OPTIONS).failed, 0)
        self.assertGreater(tried, 8)

    def test_the_guide(self):
        if importlib.util.find_spec("pandas") is None:
            self.skipTest("the guide uses pandas")
        with open(GUIDE, encoding="utf-8") as file:
            text = file.read()
        if importlib.util.find_spec("torch") is None:
            text = text[: text.index("## Gradients in PyTorch")]
        examples = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", GUIDE, 0)
        runner = doctest.DocTestRunner(optionflags=OPTIONS)
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                done = runner.run(examples)
            finally:
                os.chdir(before)
        self.assertEqual(done.failed, 0)
        self.assertGreater(done.attempted, 20)


class Names(unittest.TestCase):
    def test_the_stub_has_those_of_the_package(self):
        with open(os.path.join(eindb.__path__[0], "__init__.pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        known = {}
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                known[node.name] = node
            elif isinstance(node, ast.AnnAssign):
                known[node.target.id] = node
            elif isinstance(node, ast.ImportFrom):
                known.update((alias.asname, node) for alias in node.names if alias.asname)
        for name in eindb.__all__:
            self.assertTrue(hasattr(eindb, name), name)
            self.assertIn(name, known)
        for name, node in known.items():
            if name.startswith("_") or not isinstance(node, ast.ClassDef):
                continue
            said = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            members = vars(getattr(eindb, name)).items()
            there = {part for part, value in members if callable(value) or isinstance(value, property)}
            public = {part for part in there if not part.startswith("_")}
            if name != "Tensor":
                self.assertLessEqual({part for part in said if not part.startswith("__")}, public, name)
                self.assertLessEqual(public - {"Warning", *dir(eindb.errors)}, said, name)

    @unittest.skipIf(importlib.util.find_spec("mypy") is None, "there is no mypy")
    def test_a_typed_program(self):
        program = os.path.join(HERE, "typed_program.py")
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, program],
                                  capture_output=True, text=True,
                                  env={**os.environ, "MYPYPATH": os.path.dirname(eindb.__path__[0])})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(subprocess.run([sys.executable, program]).returncode, 0)

    def test_others_are_imported_when_they_are_wanted(self):
        text = (
            "import sys, eindb; eindb.einsum('i->', [1]); eindb.connect()['X'] = [1]\n"
            "print([m for m in ('torch', 'pandas', 'scipy', 'xarray', 'IPython', 'eindb._path_optimizer') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "[]\n")

    def test_version(self):
        self.assertRegex(eindb.__version__, r"^\d+\.\d+\.\d+$")
        self.assertRaises(AttributeError, getattr, eindb, "nothing")

    @unittest.skipIf(shutil.which("cmake") is None or len(sys.argv) < 2, "the folder of the build is not named")
    def test_it_works_where_it_is_installed(self):
        build = os.path.abspath(sys.argv[1])
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, check=True)
            packages = [path for path, folders, _ in os.walk(prefix) if "eindb" in folders and path.endswith("-packages")]
            self.assertEqual(len(packages), 1)
            text = "import eindb; print(eindb.__file__, eindb.einsum('i,i->', [1, 2], [3, 4]))"
            done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=prefix,
                                  env={**os.environ, "PYTHONPATH": packages[0]})  # fmt: skip
            self.assertEqual(done.stderr, "")
            self.assertEqual(done.stdout, f"{packages[0]}/eindb/__init__.py 11\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
