"""Go's drivers lib/pq and pgx 4, as Debian has them: built without modules and without a network."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import checked_program
import figures
from served import WithServer

SOURCES = "/usr/share/gocode"


def debian_version(package):
    shown = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], text=True, capture_output=True).stdout
    return re.sub(r"-[^-]*$", "", shown)


class GoTest(WithServer):
    script = checked_program.SCRIPT

    @classmethod
    def setUpClass(cls):
        if not shutil.which("go"):
            figures.missing("Go")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        super().setUpClass()

    def check(self, client, package, path, program):
        if not os.path.isdir(os.path.join(SOURCES, "src", path)):
            figures.missing(client)
        environment = {**os.environ, "GO111MODULE": "off", "GOPATH": SOURCES, "GOFLAGS": "-p=1", "GOPROXY": "off"}
        environment.setdefault("GOCACHE", os.path.join(self.folder, "cache"))
        binary = os.path.join(self.folder, program)
        source = os.path.join(checked_program.FOLDER, program + ".go")
        subprocess.run(["go", "build", "-o", binary, source], env=environment, check=True)
        checked_program.run_checks(self, client, [binary, str(self.server.port), debian_version(package)])

    def test_pq(self):
        self.check("Go lib/pq", "golang-github-lib-pq-dev", "github.com/lib/pq", "checks_pq")

    def test_pgx(self):
        self.check("Go pgx", "golang-github-jackc-pgx-v4-dev", "github.com/jackc/pgx/v4", "checks_pgx")


if __name__ == "__main__":
    unittest.main()
