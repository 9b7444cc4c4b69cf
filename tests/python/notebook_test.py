#!/usr/bin/python3
"""Magics of IPython, in a shell of it."""
import contextlib
import io
import os
import re
import signal
import tempfile
import threading
import time
import unittest
from unittest import mock

import eindb
import numpy as np

try:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.lib.pretty import pretty
    from traitlets.config import Config
except ImportError:
    InteractiveShell = None

GUIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python.md")


@unittest.skipIf(InteractiveShell is None, "there is no IPython")
class Notebook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.shell = InteractiveShell(ipython_dir=folder.name, config=Config(HistoryManager={"enabled": False}))
        self.run_cell("%load_ext eindb")

    def run_cell(self, cell):
        """The result of a cell, which has to succeed."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            done = self.shell.run_cell(cell)
        self.assertTrue(done.success, printed.getvalue())
        return done.result

    def failing_cell(self, cell):
        """The error of a cell, and what is shown of it."""
        with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.redirect_stderr(io.StringIO()):
            done = self.shell.run_cell(cell)
        self.assertFalse(done.success)
        return done.error_in_exec, shown.getvalue()

    def test_connections(self):
        self.assertIsInstance(self.run_cell("%eindb"), eindb.Connection)
        self.run_cell("%eindb 'my notes.db'")
        self.run_cell("%%eindb\nCREATE TABLE t (a); INSERT INTO t VALUES (1)")
        self.assertTrue(os.path.exists("my notes.db"))
        with eindb.connect() as db:
            self.shell.user_ns["db"] = db
            self.assertIs(self.run_cell("%eindb db"), db)
            self.assertIs(self.run_cell("%eindb"), db)
        self.run_cell("%eindb my notes.db")
        self.assertEqual(self.run_cell("%%eindb\nSELECT a FROM t").fetchall(), [(1,)])

    def test_cells_of_statements(self):
        self.shell.user_ns["X"] = np.ones((2, 3))
        result = self.run_cell(
            "%%eindb\nCREATE TENSOR Y AS EINSUM Y[i] = SUM(X[i,j]); -- a comment; and more\n"
            "CREATE TABLE t (a);\nCREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t WHERE a < 0; DELETE FROM t WHERE a > 9; END;\n"
            "INSERT INTO t VALUES (-1), (5), (';'), (10);\nREPEAT 3 { UPDATE TENSOR Y[i] = 2 * Y[i]; }\n"
            "SELECT (SELECT SUM(val) FROM Y), COUNT(*) FROM t;\n -- the end\n"
        )
        self.assertEqual(result.fetchall(), [(48.0, 1)])
        self.assertIsNone(self.run_cell("%%eindb\n -- nothing;"))
        self.assertEqual(self.run_cell("%%einsum\nZ[i] = 2 * Y[i]").numpy().tolist(), [48, 48])
        self.assertEqual(self.run_cell("%%einsum\nEINSUM Z[i] = Y[i]").numpy().tolist(), [24, 24])
        self.assertEqual(self.run_cell("s = %einsum Z[] = SUM(X[i,j])\ns.numpy()"), 6)

    def test_bindings(self):
        self.assertIsNone(self.run_cell("%%eindb rows <<\nSELECT 1 AS a"))
        self.assertEqual(self.shell.user_ns["rows"].fetchall(), [(1,)])
        self.assertIsNone(self.run_cell("%%einsum Z <<\nZ[i 3] = i"))
        self.assertEqual(self.shell.user_ns["Z"].numpy().tolist(), [0, 1, 2])
        self.assertIn("name <<", str(self.failing_cell("%%eindb rows\nSELECT 1")[0]))

    def test_what_is_shown(self):
        few = self.run_cell("%%eindb\nSELECT '<b>' AS x, 2.5 AS y")
        self.assertIn("<td>&lt;b&gt;</td>", few._repr_html_())
        self.assertNotIn("more", few._repr_html_())
        self.assertEqual(pretty(few), "x      y\n<b>  2.5")
        many = self.run_cell("%%einsum\nZ[i 50] = i")
        self.assertIn("… 30 more rows", many._repr_html_())
        self.assertIn("… 30 more rows", pretty(many))
        self.assertEqual(len(many.fetchall()), 50)
        self.assertIn("… 1 more row<", self.run_cell("%einsum Z[i 21] = i")._repr_html_())
        self.assertIn("more than 10,000 more rows", self.run_cell("%einsum Z[i 20000] = i")._repr_html_())
        plan = self.run_cell("%%eindb\nEXPLAIN EINSUM Z[i 2] = i")
        self.assertTrue(plan._repr_html_().startswith("<pre>EinGraph"))
        self.assertTrue(pretty(plan).startswith("EinGraph"))
        self.assertIn("CREATE TENSOR", pretty(self.run_cell("%%eindb\nCREATE TENSOR T (i 2)")))

    def test_errors(self):
        error, shown = self.failing_cell("%%eindb\nSELECT 1;\n\n  EINSUM Z[i] = Nothing[i]; SELECT 2")
        self.assertIsInstance(error, eindb.ProgrammingError)
        self.assertEqual((error.line, error.column), (3, 17))
        self.assertIn("EINSUM Z[i] = Nothing[i]", shown)
        self.assertIn("^^^^^^^", shown)
        self.assertNotIn("Traceback", shown)
        error, shown = self.failing_cell("%eindb " + os.path.join("nowhere", "at", "all.db"))
        self.assertIsInstance(error, eindb.OperationalError)

    def test_progress(self):
        from eindb import _notebook

        self.assertEqual(_notebook.progress_line("join", 5, 10), "join [" + "#" * 15 + " " * 15 + "] 50%")
        self.assertEqual(_notebook.progress_line("import", 7, 0), "import 7")
        begun = time.monotonic()
        with mock.patch.multiple(_notebook, _DELAY=0.01, _INTERVAL=0.01), contextlib.redirect_stderr(io.StringIO()) as shown:
            while not re.search(r"\w+ (\[#* *\] )?\d+", shown.getvalue()) and time.monotonic() < begun + 60:
                self.run_cell("%einsum Z[] = SUM[i 4000, j 4000, k 20](SIN(1.0 * i + j + k))")
        self.assertRegex(shown.getvalue(), r"\w+ (\[#* *\] )?\d+")
        self.assertTrue(shown.getvalue().endswith("\r"))
        self.assertIsNone(self.run_cell("%eindb").progress)

    def test_ctrl_c_ends_a_statement(self):
        interrupt = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
        interrupt.start()
        error, _ = self.failing_cell("while True:\n    %einsum Z[] = SUM[i 20000, j 20000, k 200](SIN(1.0 * i + j + k))")
        interrupt.join()
        self.assertIsInstance(error, KeyboardInterrupt)
        self.assertEqual(self.run_cell("%%eindb\nSELECT 1").fetchall(), [(1,)])

    def test_the_guide(self):
        with open(GUIDE, encoding="utf-8") as file:
            cells = re.findall(r"```ipython\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreater(len(cells), 4)
        for cell in cells:
            result = self.run_cell(cell)
        np.testing.assert_allclose(result, [10.25, 15.25])


if __name__ == "__main__":
    unittest.main()
