"""The server is killed at random moments while it writes. It opens the database again at once, with the old state or
the new one.

    crash_test.py EINDB

EINDB_KILLS sets the number of kills (default 10). Moments are random with a fixed seed, from before the beginning of a
statement to after its end. Acknowledged changes must be there.
"""

import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
import psycopg

from served import EINDB

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from trials import Trials  # noqa: E402
from waiting import HANG_SECONDS, cpu_seconds  # noqa: E402

KILLS = int(os.environ.get("EINDB_KILLS", "10"))
# The limit for the time from a program's start to its first answer. The median counts, as other load may delay a start.
MOST_OPENING_SECONDS = 1.0  # of CPU time
ROWS = 100000
# Values are whole numbers, so sums are exact in any order.
SCRIPT = """
CREATE TENSOR Old FLOAT64 AS EINSUM Old[i 1200, j 1000] = i * 1000 + j;
CREATE TABLE notes (n INTEGER, name TEXT);
INSERT INTO notes VALUES (1, 'a'), (2, 'b');
"""


class Database:
    """A database in its own folder, and a server that can be killed. Scratch files are in another folder."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.path = self._folder.name
        self.scratch = os.path.join(self.path, "scratch")
        self.files = os.path.join(self.path, "files")
        self.data = os.path.join(self.path, "data")
        for folder in (self.scratch, self.files, self.data):
            os.mkdir(folder)
        self.database = os.path.join(self.data, "s.db")
        subprocess.run([EINDB, self.database], input=SCRIPT, text=True, check=True, stdout=subprocess.DEVNULL)
        help_text = subprocess.run([EINDB, "serve", "--help"], capture_output=True, text=True, check=True).stdout
        self._options = ["--files-dir", self.files] if "--files-dir" in help_text else []
        self._process = None
        self._port = 0

    def start(self):
        command = [EINDB, "serve", self.database, "--listen", "127.0.0.1:0", *self._options]
        environment = {**os.environ, "TMPDIR": self.scratch}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self._port = int(self._process.stdout.readline().split()[-1])

    def cpu_seconds(self):
        """The CPU time of the running server so far."""
        return cpu_seconds(self._process.pid)

    def connect(self):
        return psycopg.connect(host="127.0.0.1", port=self._port, user="ada", dbname="s", autocommit=True)

    def end(self, with_signal):
        self._process.send_signal(with_signal)
        status = self._process.wait(HANG_SECONDS)
        self._process.stdout.close()
        return status

    def remove(self):
        if self._process and self._process.poll() is None:
            self.end(signal.SIGKILL)
        self._folder.cleanup()


class Write:
    """A change of the database. `run(connection)` makes it, and the statement `undo` reverts it. The query `state`
    counts 1 if the change is there, and 0 otherwise."""

    undo = "DROP TENSOR New"
    state = "SELECT COUNT(*) FROM eindb_tensors WHERE name = 'New'"
    content = "EINSUM s[] = SUM(New[i,j])"

    def __init__(self, database):
        self.database = database

    def run(self, connection):
        raise NotImplementedError


class CreateTensor(Write):
    # Tiles of the result are written while others are computed. Intermediate tiles go through a scratch file.
    def run(self, connection):
        connection.execute("SET memory_limit = '4MiB'")
        connection.execute("CREATE TENSOR New AS EINSUM New[i,k] = Old[i,k] + SUM(Old[i,j]) - Old[i,0] * 2")


class CopyFile(Write):
    def __init__(self, database):
        super().__init__(database)
        self._path = os.path.join(database.files, "new.npy")
        np.save(self._path, np.arange(2e6).reshape(2000, 1000))

    def run(self, connection):
        connection.execute(f"COPY New FROM '{self._path}'")


class CopyRows(Write):
    undo = "DELETE FROM notes WHERE n >= 100"
    state = "SELECT COUNT(*) > 0 FROM notes WHERE n >= 100"
    content = "SELECT COUNT(*) FROM notes WHERE n >= 100"
    rows = "".join(f"{n}\tname {n}\n" for n in range(100, 100 + ROWS))

    def run(self, connection):
        with connection.cursor().copy("COPY notes FROM STDIN") as copy:
            copy.write(self.rows)


class CopyTensor(CopyFile):
    """The client sends the file of CopyFile."""

    def run(self, connection):
        with open(self._path, "rb") as file, connection.cursor().copy("COPY New FROM STDIN (FORMAT npy)") as copy:
            while data := file.read(1 << 16):
                copy.write(data)


class Killed(unittest.TestCase):
    def setUp(self):
        self.database = Database()
        self.addCleanup(self.database.remove)
        self.opening_seconds = []

    def rows(self, statement):
        with self.database.connect() as connection:
            return connection.execute(statement).fetchall()

    def is_done(self, write):
        return bool(self.rows(write.state)[0][0])

    def kill_while(self, write, seconds):
        """Runs `write`, and kills the server that many seconds later. Returns whether the write was acknowledged."""
        connection = self.database.connect()
        killer = threading.Timer(seconds, self.database.end, (signal.SIGKILL,))
        killer.start()
        told = False
        try:
            write.run(connection)
            told = True
        except psycopg.OperationalError:
            pass
        killer.join()
        connection.close()
        return told

    def start_again(self):
        self.database.start()
        self.assertEqual(self.rows("SELECT name FROM notes WHERE n = 2"), [("b",)])
        self.opening_seconds.append(self.database.cpu_seconds())

    def measure(self, write):
        """Returns the seconds that a write takes, and the contents before and after it. Skips the test if this server
        cannot do it."""
        self.database.start()
        old = self.rows("EINSUM s[] = SUM(Old[i,j])")
        seconds = []
        for _ in range(3):
            begin = time.monotonic()
            try:
                with self.database.connect() as connection:
                    write.run(connection)
            except (psycopg.errors.SyntaxError, psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedObject) as error:
                self.skipTest(str(error))
            seconds.append(time.monotonic() - begin)
            new = self.rows(write.content)
            self.change(write.undo)
        return min(seconds), old, new

    def change(self, statement):
        with self.database.connect() as connection:
            connection.execute(statement)

    def check_file(self):
        """Checks the database file, which no program has open: it is intact, and no other file is left. Returns the
        names of tensors."""
        self.assertEqual(os.listdir(self.database.data), ["s.db"])
        connection = sqlite3.connect(self.database.database)
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        tensors = {name for (name,) in connection.execute("SELECT name FROM eindb_tensors")}
        connection.close()
        tiles = {name.removeprefix("eindb_tiles_") for name in names if name.startswith("eindb_tiles_")}
        self.assertEqual(tiles, tensors)
        return tensors

    def check(self, make_write, kills, seed):
        write = make_write(self.database)
        seconds, old, new = self.measure(write)
        rng = random.Random(seed)
        done = 0
        trials = Trials("server_kills")
        self.addCleanup(trials.print)
        for _ in range(kills):
            with trials.trial():
                done += self.check_kill(write, rng.uniform(0.0, 1.2 * seconds), old, new)
        self.assertLess(statistics.median(self.opening_seconds), MOST_OPENING_SECONDS)
        longest = max(self.opening_seconds)
        print(f"{make_write.__name__}: {done} of {kills} done; open again for at most {longest:.2f} s of CPU")

    def check_kill(self, write, seconds, old, new):
        """Kills the server during a write, and checks the database. Returns whether the change is there."""
        told = self.kill_while(write, seconds)
        self.assertEqual(os.listdir(self.database.scratch), [])
        self.start_again()
        self.assertEqual(self.rows("EINSUM s[] = SUM(Old[i,j])"), old)
        is_done = self.is_done(write)
        self.assertTrue(is_done or not told, "what a client was told is done is gone")
        if is_done:
            self.assertEqual(self.rows(write.content), new)
            self.change(write.undo)
        self.assertEqual(self.database.end(signal.SIGTERM), 0)
        self.assertEqual(self.check_file(), {"Old"})
        self.database.start()
        return is_done

    def test_create_tensor(self):
        self.check(CreateTensor, KILLS - 3 * (KILLS // 4), 1)

    def test_copy_of_a_file(self):
        self.check(CopyFile, KILLS // 4, 2)

    def test_copy_of_rows(self):
        self.check(CopyRows, KILLS // 4, 3)

    def test_copy_of_a_tensor(self):
        self.check(CopyTensor, KILLS // 4, 4)


if __name__ == "__main__":
    unittest.main(verbosity=1)
