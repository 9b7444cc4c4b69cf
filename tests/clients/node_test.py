"""Node's package pg, from npm: installed into a folder of the test's own."""

import os
import shutil
import subprocess
import tempfile
import unittest

import checked_program
from served import WithServer

PACKAGES = ["pg@8", "pg-cursor@2"]


class NodeTest(WithServer):
    script = checked_program.SCRIPT

    @classmethod
    def setUpClass(cls):
        if not shutil.which("node") or not shutil.which("npm"):
            raise unittest.SkipTest("Node with npm is not installed, and Debian's is none of the clients that are")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        install = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--silent", "--fetch-retries=1", *PACKAGES]
        if subprocess.run(install, cwd=cls.folder, capture_output=True, timeout=120).returncode != 0:
            raise unittest.SkipTest("npm cannot install pg: the registry does not answer")
        super().setUpClass()

    def test_checks(self):
        program = shutil.copy(os.path.join(checked_program.FOLDER, "checks.mjs"), self.folder)
        checked_program.run_checks(self, "Node pg", ["node", program, str(self.server.port)], folder=self.folder)


if __name__ == "__main__":
    unittest.main()
