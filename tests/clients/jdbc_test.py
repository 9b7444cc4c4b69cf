"""PostgreSQL's JDBC driver: what Java programs and tools built on them (DBeaver, Metabase, DataGrip) ask for."""

import os
import shutil
import unittest

import checked_program
import figures
from served import WithServer

DRIVER = "/usr/share/java/postgresql.jar"


class JdbcTest(WithServer):
    script = checked_program.SCRIPT

    @classmethod
    def setUpClass(cls):
        if not shutil.which("java") or not os.path.exists(DRIVER):
            figures.missing("PostgreSQL's JDBC driver")
        super().setUpClass()

    def test_checks(self):
        url = f"jdbc:postgresql://127.0.0.1:{self.server.port}/s?user=ada"
        program = os.path.join(checked_program.FOLDER, "Jdbc.java")
        checked_program.run_checks(self, "JDBC", ["java", "-cp", DRIVER, program, url])


if __name__ == "__main__":
    unittest.main()
