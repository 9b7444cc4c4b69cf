"""Counts the trials of a kind. At the end they are a line "reliability KIND tries=N failed=M", which
`script/bench reliability` adds up."""

import contextlib


class Trials:
    def __init__(self, kind):
        self._kind = kind
        self.tries = 0
        self.failed = 0

    @contextlib.contextmanager
    def trial(self):
        """Of one: it fails by any exception, which goes on."""
        self.tries += 1
        try:
            yield
        except BaseException:
            self.failed += 1
            raise

    def print(self):
        print(f"reliability {self._kind} tries={self.tries} failed={self.failed}", flush=True)
