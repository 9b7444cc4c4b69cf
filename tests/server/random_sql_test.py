"""Random statements of ordinary SQL give the same rows as on PostgreSQL, or an error of a kind that is written down.

EINDB_RANDOM_SQL sets the number of statements, EINDB_RANDOM_SQL_SEED the seed.
"""

import glob
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import unittest
from collections import Counter

import psycopg2
import psycopg2.extensions

from random_sql import SCHEMA, Statements
from served import Server

COUNT = int(os.environ.get("EINDB_RANDOM_SQL", "400"))
SEED = int(os.environ.get("EINDB_RANDOM_SQL_SEED", "1"))

# Constructs for which one of the two refuses what the other answers; docs/server.md says so to users.
REFUSED_HERE = [
    r"integer overflow",  # a SUM of integers beyond 64 bits
    r"division by zero",  # in values that no row of the result needs
    r"bigint out of range",  # likewise
]
ANSWERED_HERE = [
    r"integer out of range",  # integers of all widths have 64 bits
    r"cannot cast type bigint to boolean",  # as integer to boolean
    r"operator does not exist: (date [-+] bigint|bigint \+ date)",  # as date - integer and integer + date
    r"division by zero|bigint out of range",  # in values that no row of the result needs
]


def postgres_programs():
    """The folder of the newest PostgreSQL that is installed, or None."""
    folders = glob.glob("/usr/lib/postgresql/*/bin")
    return max(folders, key=lambda folder: int(re.search(r"/(\d+)/", folder)[1]), default=None)


class Postgres:
    """PostgreSQL with a cluster of its own that is only reached through a socket in its folder."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "-D", self.data(), "--locale=C", "--lc-ctype=C.UTF-8", "--encoding=UTF8", "-A", "trust", "-N", "-U", "ada")
        self.run("pg_ctl", "-D", self.data(), "-w", "-l", os.path.join(self.folder, "log"),
                 "-o", f"-k {self.folder} -c listen_addresses='' -c fsync=off -c TimeZone=UTC", "start")  # fmt: skip

    def data(self):
        return os.path.join(self.folder, "data")

    def run(self, program, *arguments):
        command = [os.path.join(postgres_programs(), program), *arguments]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def close(self):
        self.run("pg_ctl", "-D", self.data(), "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def texts(connection):
    """Makes all values of results the texts that the server sent."""
    types = [16, 17, 20, 21, 23, 25, 114, 700, 701, 705, 1042, 1043, 1082, 1083, 1114, 1184, 1186, 1700, 2950]
    psycopg2.extensions.register_type(psycopg2.extensions.new_type(tuple(types), "TEXTS", lambda value, _: value),
                                      connection)  # fmt: skip
    connection.autocommit = True
    return connection


class Outcome:
    """The rows of a statement, or its error."""

    def __init__(self, connection, statement):
        self.rows = self.error = self.code = None
        with connection.cursor() as cursor:
            try:
                cursor.execute(statement)
                self.rows = cursor.fetchall() if cursor.description else []
            except psycopg2.Error as error:
                self.error, self.code = str(error).strip(), error.pgcode


def same_value(a, b):
    if a == b:
        return True
    try:
        a, b = float(a), float(b)
    except (TypeError, ValueError):
        return False
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)


def rounded(value):
    """Nine digits of a number, which are the same for numeric and double precision."""
    try:
        return format(float(value) + 0.0, ".9g")
    except (TypeError, ValueError):
        return str(value)


def same_rows(a, b, ordered=True):
    if ordered and len(a) == len(b) and all(all(map(same_value, x, y)) for x, y in zip(a, b, strict=True)):
        return True
    # Quotients of numeric are doubles here, so that rows may be equal which are not in PostgreSQL: their order is free.
    if ordered and len(a) == len(b) and all(same_value(x[0], y[0]) for x, y in zip(a, b, strict=True)):
        ordered = False
        a, b = ([tuple(map(rounded, row)) for row in rows] for rows in (a, b))
    if not ordered:
        a, b = (sorted(rows, key=lambda row: [str(value) for value in row]) for rows in (a, b))
    return len(a) == len(b) and all(
        len(x) == len(y) and all(map(same_value, x, y)) for x, y in zip(a, b, strict=True)
    )


def differ_by_quotients(statement, a, b):
    """Whether DISTINCT or LIMIT may have other rows since quotients of numeric are doubles here: some are equal then."""
    has_quotients = any(re.fullmatch(r"-?\d+\.\d{18,}", str(value)) for row in a for value in row)
    same = {tuple(map(rounded, row)) for row in a} == {tuple(map(rounded, row)) for row in b}
    return has_quotients and (same or " LIMIT " in statement)


def is_listed(message, patterns):
    return any(re.search(pattern, message) for pattern in patterns)


@unittest.skipUnless(postgres_programs(), "PostgreSQL is not installed")
class RandomSql(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.close)
        cls.server = Server("CREATE TABLE unused (n INTEGER);")
        cls.addClassCleanup(cls.server.close)
        cls.theirs = texts(psycopg2.connect(host=cls.postgres.folder, user="ada", dbname="postgres"))
        cls.addClassCleanup(cls.theirs.close)
        cls.ours = texts(psycopg2.connect(**cls.server.arguments()))
        cls.addClassCleanup(cls.ours.close)

    def fill(self, statements):
        for connection in (self.theirs, self.ours):
            with connection.cursor() as cursor:
                cursor.execute("DROP TABLE IF EXISTS t")
                cursor.execute("DROP TABLE IF EXISTS r")
                for statement in SCHEMA.strip().split("\n"):
                    cursor.execute(statement)
        for statement in statements.rows():
            for connection in (self.theirs, self.ours):
                with connection.cursor() as cursor:
                    cursor.execute(statement)

    def test_the_same_rows(self):
        statements = Statements(SEED)
        self.fill(statements)
        counts = Counter()
        silent = []
        for number in range(COUNT):
            statement = statements.statement()
            theirs, ours = Outcome(self.theirs, statement), Outcome(self.ours, statement)
            if theirs.rows is not None and ours.rows is not None:
                same = same_rows(theirs.rows, ours.rows, "RETURNING" not in statement)
                kind = "same rows" if same else "other rows"
                if not same and differ_by_quotients(statement, theirs.rows, ours.rows):
                    kind = "other rows, listed"
            elif theirs.rows is None and ours.rows is None:
                kind = "both refused" if theirs.code == ours.code else f"both refused, {theirs.code} and {ours.code}"
            elif ours.rows is None:
                kind = "refused here" + (", listed" if is_listed(ours.error, REFUSED_HERE) else "")
            else:
                kind = "answered here" + (", listed" if is_listed(theirs.error, ANSWERED_HERE) else "")
            counts[kind] += 1
            if kind in ("other rows", "refused here", "answered here"):
                silent.append(f"{number}: {kind}: {statement}\n  theirs {theirs.error or theirs.rows[:4]}\n"
                              f"  ours   {ours.error or ours.rows[:4]}")
            if (theirs.rows is None) != (ours.rows is None) or kind.startswith("other rows") or statements.random.random() < 0.01:
                self.fill(statements)  # the tables may differ now
        print("random_sql", *(f"{kind}={count}" for kind, count in sorted(counts.items())), sep="; ")
        self.assertEqual(silent, [], "\n" + "\n".join(silent[:40]))


if __name__ == "__main__":
    unittest.main()
