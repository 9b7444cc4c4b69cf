"""Runs pgbench against the server: its three modes, with and without passwords, its own script, and psql beside it.

    pgbench_test.py EINDB
"""

import glob
import os
import re
import signal
import subprocess
import tempfile
import unittest

from served import TENSORS, WithServer
from waiting import HANG_SECONDS

USERS = "CREATE USER ada PASSWORD 'secret';"
SCRIPT = """\\set k random(1, 2)
SELECT name FROM t WHERE n = :k;
EINSUM Z[i] = SUM(X[i,j]) * :k;
BEGIN;
INSERT INTO log VALUES (:client_id, :k);
END;
"""
LOG = "CREATE TABLE log (client INTEGER, k INTEGER);"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"


def find_pgbench():
    """Debian installs pgbench beside the server's programs, not in PATH."""
    return next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin/pgbench"), reverse=True)), None)


class Pgbench(WithServer):
    """The common part of the tests. The server has no passwords."""

    script = TENSORS + LOG
    password = ""

    @classmethod
    def setUpClass(cls):
        if find_pgbench() is None:
            raise unittest.SkipTest("there is no pgbench: script/bootstrap installs it")
        super().setUpClass()

    def pgbench(self, *arguments, script=SCRIPT):
        with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
            file.write(script)
            file.flush()
            files = ["-f", file.name] if script else []
            return self.pgbench_program(*arguments, *files)

    def pgbench_program(self, *arguments):
        place = ["-h", "127.0.0.1", "-p", str(self.server.port), "-U", "ada"]
        return subprocess.run(
            [find_pgbench(), *place, *arguments, "s"], capture_output=True, text=True, timeout=240,
            env={**os.environ, "PGPASSWORD": self.password},
        )  # fmt: skip

    def psql(self, *arguments, **more):
        return self.server.psql(*arguments, PGPASSWORD=self.password, **more)

    def check(self, ran, transactions):
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn(f"number of transactions actually processed: {transactions}/{transactions}\n", ran.stdout)
        self.assertIn("number of failed transactions: 0 (0.000%)", ran.stdout)


class OwnScript(Pgbench):
    """Readers and writers wait for each other's commits."""

    def test_modes(self):
        for mode in ("simple", "extended", "prepared"):
            with self.subTest(mode):
                self.psql("-c", "DELETE FROM log")
                self.check(self.pgbench("-n", "-M", mode, "-c", "8", "-j", "2", "-t", "25"), 200)
                self.assertEqual(self.psql("-c", "SELECT COUNT(*), COUNT(DISTINCT client) FROM log").stdout, "200|8\n")

    def test_a_connection_for_each_transaction(self):
        clients, transactions = "4", "5"
        self.check(self.pgbench("-n", "-C", "-c", clients, "-t", transactions, script="SELECT 1;"), 20)


class OwnScriptWithPasswords(OwnScript):
    script = TENSORS + LOG + USERS
    password = "secret"


class TpcB(Pgbench):
    """pgbench's own transaction makes three updates. None of them is lost beside concurrent writers."""

    script = """
        CREATE TABLE pgbench_branches (bid INTEGER PRIMARY KEY, bbalance INTEGER, filler TEXT);
        CREATE TABLE pgbench_tellers (tid INTEGER PRIMARY KEY, bid INTEGER, tbalance INTEGER, filler TEXT);
        CREATE TABLE pgbench_accounts (aid INTEGER PRIMARY KEY, bid INTEGER, abalance INTEGER, filler TEXT);
        CREATE TABLE pgbench_history (tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime TIMESTAMP, filler TEXT);
        INSERT INTO pgbench_branches VALUES (1, 0, '');
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10)
        INSERT INTO pgbench_tellers SELECT x, 1, 0, '' FROM c;
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000)
        INSERT INTO pgbench_accounts SELECT x, 1, 0, '' FROM c;
    """

    def test_modes(self):
        for mode in ("simple", "extended", "prepared"):
            with self.subTest(mode):
                self.check(self.pgbench("-n", "-M", mode, "-c", "8", "-j", "2", "-t", "10", script=""), 80)
        sums = [f"(SELECT SUM({what}) FROM pgbench_{table})" for what, table in (
            ("delta", "history"), ("abalance", "accounts"), ("tbalance", "tellers"), ("bbalance", "branches"))]  # fmt: skip
        found = self.psql("-c", f"SELECT COUNT(*), {', '.join(sums)} FROM pgbench_history").stdout.strip().split("|")
        self.assertEqual(found[0], "240")
        self.assertEqual(len(set(found[1:])), 1, found)


class Interrupted(Pgbench):
    def test_beside_pgbench(self):
        """psql is interrupted while pgbench runs. Its statement ends, and those of pgbench continue."""
        place = ["-h", "127.0.0.1", "-p", str(self.server.port), "-U", "ada", "-d", "s"]
        psql = subprocess.Popen(
            ["psql", "-X", "-A", "-t", *place, "-c", "SELECT 'connected'", "-c", ENDLESS],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.assertEqual(psql.stdout.readline(), "connected\n")
        self.check(self.pgbench("-n", "-c", "4", "-t", "50"), 200)
        self.assertIsNone(psql.poll())
        psql.send_signal(signal.SIGINT)
        self.assertIn("cancel", psql.communicate(timeout=HANG_SECONDS)[1])


if __name__ == "__main__":
    unittest.main(verbosity=1)
