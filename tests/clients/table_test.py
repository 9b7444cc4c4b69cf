"""The comparison of figures with the table of docs/clients.md.

    table_test.py
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TABLE = pathlib.Path(__file__).with_name("table.py")
DOCUMENT = """# Clients
<!-- figures: tests/clients/table.py -->
| Client | Version | What works | What does not | Test | Figures |
|---|---|---|---|---|---|
| psql | 15 | much | little | `a_test.py` | 10 passed, 2 excluded |
| R | 4 | all | nothing | `r_test.py` | |
<!-- end of figures -->
The rest.
"""


class TableTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.document = self.folder / "clients.md"
        self.document.write_text(DOCUMENT)

    def compare(self, *options, **clients):
        for client, figures in clients.items():
            (self.folder / f"{client}.json").write_text(json.dumps({"client": client, "version": "15", **figures}))
        done = subprocess.run([sys.executable, TABLE, self.folder, self.document, *options], text=True,
                              capture_output=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})  # fmt: skip
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_the_same(self):
        status, said = self.compare(psql={"passed": 10, "failed": 0, "excluded": 2})
        self.assertEqual((status, said), (0, "R: no figures, its test did not run\nall figures are those of the table\n"))

    def test_better_is_said(self):
        status, said = self.compare(psql={"passed": 11, "failed": 0, "excluded": 1})
        self.assertEqual(status, 0)
        self.assertIn("psql: 11 passed, not 10\npsql: 1 excluded, not 2\n", said)

    def test_worse_fails(self):
        for figures in ({"passed": 9}, {"passed": 10, "failed": 1}, {"passed": 10, "excluded": 3}):
            status, said = self.compare(psql=figures)
            self.assertEqual(status, 1, figures)
            self.assertIn("which is worse", said)

    def test_other_figures_may_vary(self):
        status, said = self.compare(psql={"passed": 10, "excluded": 2, "tps": 900})
        self.assertEqual(status, 0)
        self.assertIn("psql: 900 tps, not 0", said)

    def test_update_keeps_what_is_written_by_hand(self):
        status, _ = self.compare("--update", psql={"passed": 11}, Go={"passed": 3})
        self.assertEqual(status, 0)
        written = self.document.read_text()
        self.assertIn("| psql | 15 | much | little | `a_test.py` | 11 passed |\n", written)
        self.assertIn("| R | 4 | all | nothing | `r_test.py` |  |\n| Go | 15 |  |  |  | 3 passed |\n<!--", written)
        self.assertTrue(written.endswith("-->\nThe rest.\n"))


if __name__ == "__main__":
    unittest.main()
