"""Counts the trials of one kind, and prints them at the end as a line "reliability KIND tries=N failed=M".
`script/bench reliability` sums these lines."""

import contextlib


class Trials:
    def __init__(self, kind):
        self._kind = kind
        self.tries = 0
        self.failed = 0

    @contextlib.contextmanager
    def trial(self):
        """One trial. It fails if an exception leaves the block."""
        self.tries += 1
        try:
            yield
        except BaseException:
            self.failed += 1
            raise

    def print(self):
        print(f"reliability {self._kind} tries={self.tries} failed={self.failed}", flush=True)
