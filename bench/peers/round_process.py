"""A contestant in its own process. It announces that it is ready, and answers each line with the seconds of a round."""

import subprocess


class RoundProcess:
    def __init__(self, command, name, environment, stderr=None):
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        )
        self.ready = self._process.stdout.readline().split()
        if self.ready[:1] != ["ready"]:
            raise RuntimeError(f"{name} did not start: {' '.join(command)}")

    def seconds(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()
