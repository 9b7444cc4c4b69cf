"""R's package RPostgreSQL, by its DBI functions."""

import os
import shutil
import subprocess
import unittest

import checked_program
import figures
from served import WithServer


def has_package():
    question = "quit(status = !requireNamespace('RPostgreSQL', quietly = TRUE))"
    return shutil.which("Rscript") and subprocess.run(["Rscript", "-e", question], capture_output=True).returncode == 0


class RTest(WithServer):
    script = checked_program.SCRIPT

    @classmethod
    def setUpClass(cls):
        if not has_package():
            figures.missing("R's package RPostgreSQL")
        super().setUpClass()

    def test_checks(self):
        program = os.path.join(checked_program.FOLDER, "checks.R")
        checked_program.run_checks(self, "R RPostgreSQL", ["Rscript", program, str(self.server.port)])


if __name__ == "__main__":
    unittest.main()
