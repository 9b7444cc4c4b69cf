"""A pseudo-terminal with the program on it, for tests that type what a user types and read what a user reads."""
import fcntl
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from waiting import HANG_SECONDS  # noqa: E402

PASTE_BEGIN, PASTE_END = "\x1b[200~", "\x1b[201~"


class TerminalTest(unittest.TestCase):
    """One test's program, which runs in a folder of its own that is its user's home, too."""

    eindb = None  # the program

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, *arguments, rows=0, columns=0, **environment):
        """Starts the program and waits for its prompt. Without rows and columns the terminal has no known size."""
        pid, self.terminal = pty.fork()
        if pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.chdir(self.folder)
                given = {"HOME": str(self.folder), "TERM": "xterm", "PATH": os.environ["PATH"], "PAGER": ""}
                os.execve(self.eindb, [self.eindb, *arguments], {**given, **environment})
            finally:
                os._exit(127)  # the child never returns to the tests
        self.pid = pid
        self.unread = ""
        self.addCleanup(os.close, self.terminal)  # this ends the program if it still runs
        self.expect("eindb> ")

    def read(self, end, what):
        """Waits for output until the time `end`. Returns False at the end of the output."""
        ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
        self.assertTrue(ready, f"{what} did not come; this did: {self.unread!r}")
        try:
            self.unread += os.read(self.terminal, 65536).decode(errors="replace")
        except OSError:  # the program has closed its side
            return False
        return True

    def expect(self, text, timeout=HANG_SECONDS):
        """Reads until `text` comes. Returns the output up to its end."""
        end = time.monotonic() + timeout
        while text not in self.unread:
            self.assertTrue(self.read(end, repr(text)), f"{text!r} did not come; this did: {self.unread!r}")
        position = self.unread.index(text) + len(text)
        found, self.unread = self.unread[:position], self.unread[position:]
        return found

    def type(self, text):
        os.write(self.terminal, text.encode())

    def paste(self, text):
        """Types as a terminal does what is pasted into it: line ends are those of the Enter key."""
        self.type(PASTE_BEGIN + text.replace("\n", "\r") + PASTE_END)

    def run_line(self, line):
        """Types a line and returns what comes up to the next prompt, with its echo."""
        self.type(line + "\n")
        return self.expect("eindb> ")

    def leave(self):
        self.type("\x04")
        return self.wait_for_end()

    def wait_for_end(self):
        """Returns the exit status."""
        end = time.monotonic() + HANG_SECONDS
        while self.read(end, "the end"):
            pass
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)
