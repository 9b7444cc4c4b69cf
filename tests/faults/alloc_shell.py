"""A shell that reads statements from a pipe, one at a time, while calls fail."""

import os
import subprocess
import tempfile
import time

from alloc_control import ALLOCATIONS

PATIENCE = 240  # seconds; statements take milliseconds


class Died(Exception):
    pass


class Hung(Exception):
    pass


class Shell:
    def __init__(self, program, control, folder, arguments=("my.db",)):
        self._control = control
        self._seen = control.reads
        self._errors = tempfile.TemporaryFile()
        self._output = tempfile.TemporaryFile()
        self.process = subprocess.Popen([program, "--csv", "--noheader", *arguments], cwd=folder, bufsize=0,
                                        stdin=subprocess.PIPE, stdout=self._output, stderr=self._errors,
                                        env=control.environment())  # fmt: skip
        self._wait()

    def _wait(self):
        """Waits until the program reads its next input."""
        end = time.monotonic() + PATIENCE
        while self._control.reads == self._seen:
            if self.process.poll() is not None:
                raise Died(self.process.returncode)
            if time.monotonic() > end:
                raise Hung()
            time.sleep(0.0002)
        self._seen = self._control.reads

    def run(self, statement, first=0, number=1, kinds=0):
        """Runs a statement. Returns its output, its errors, and the numbers of calls and of failed ones."""
        positions = [file.seek(0, os.SEEK_END) for file in (self._output, self._errors)]
        try:
            with self._control.failing(first, number, kinds or ALLOCATIONS):
                self.process.stdin.write(statement.encode() + b"\n")
                self._wait()
        finally:
            texts = []
            for file, position in zip((self._output, self._errors), positions):
                file.seek(position)
                texts.append(file.read().decode(errors="replace"))
            self.last = (*texts, *self._control.counts)
        return self.last

    def close(self):
        """Ends the shell. Returns its exit status, or None if it does not end."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        finally:
            self._output.close()
            self._errors.close()
