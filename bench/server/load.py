"""The load generator, bench/server/load_generator.cpp. It is many clients of one server in one process."""

import json
import os
import subprocess

from servers import DATABASE, USER, pinned


class Refused(Exception):
    """The load generator reports an error, such as a statement that the server refuses."""


class Load:
    def __init__(self, build, server, cores):
        program = os.path.join(build, "bench", "server", "load_generator")
        command = [program, str(server.port), USER, DATABASE]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=pinned(cores)
        )

    def ask(self, command):
        """Sends a command, and returns the answer as a dict."""
        self._process.stdin.write(" ".join(command.split()) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    def close(self):
        self._process.stdin.close()
        self._process.wait()
