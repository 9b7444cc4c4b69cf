"""eindb as its users run it: one process of the program for all statements, with a database file on the disk."""

import json
import os
import subprocess
import tempfile

import numpy as np

TYPES = {"float32": "FLOAT32", "float64": "FLOAT64", "complex64": "COMPLEX64", "int64": "INT64"}
END = "-- the end of what a statement printed --"


class EindbError(Exception):
    """A statement failed. The text is the program's standard error."""


class Eindb:
    """A database in `folder`, and a program that has it open. Not thread-safe.

    `earlier` is an earlier build of the program with its own database. It gets the same tensors and settings.
    """

    def __init__(self, program, folder, options=(), earlier=None):
        self.program = program
        self.earlier = earlier
        self.folder = folder
        self.database = os.path.join(folder, "peers.db")
        self._errors = tempfile.TemporaryFile(mode="w+")
        command = [program, *options, self.database, "--mode", "list", "--noheader"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        self.execute("SELECT 0;\n.bail off")

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        if self.earlier:
            self.earlier.close()

    def execute(self, statement):
        """Runs a statement (its semicolon is added), also in the earlier build, and returns the output."""
        if self.earlier:
            self.earlier.execute(statement)
        return self.execute_here(statement)

    def execute_here(self, statement):
        """Runs a statement in this build alone; returns its output."""
        self._process.stdin.write(f"{statement};\nSELECT '{END}';\n")
        self._process.stdin.flush()
        lines = []
        for line in self._process.stdout:
            if line.rstrip("\n") == END:
                self._raise_errors(statement)
                return "".join(lines)
            lines.append(line)
        self._raise_errors(statement)
        raise EindbError(f"the program ended at: {statement}")

    def _raise_errors(self, statement):
        self._errors.seek(0)
        text = self._errors.read()
        self._errors.seek(0)
        self._errors.truncate()
        if text.strip():
            raise EindbError(f"{statement}\n{text}")

    def analyze(self, query):
        """Runs a query, and returns its plan as a dict, which includes `execution_seconds`."""
        return json.loads(self.execute_here(f"EXPLAIN (ANALYZE, FORMAT json) {query}"))

    def calibrate(self, options):
        """Measures the machine for the plans of this build, and lets them predict by these figures."""
        path = os.path.join(self.folder, "machine.json")
        subprocess.run([self.program, *options, "calibrate", path], check=True, stdout=subprocess.DEVNULL)
        self.execute_here(f"SET machine_file = '{path}'")

    def seconds(self, query):
        return self.analyze(query)["execution_seconds"]

    def store(self, name, array, partition=None):
        """Stores the values of an array as a tensor, in the default partition or in the given one."""
        path = os.path.join(self.folder, "input.npy")
        np.save(path, array)
        self.execute(f"DROP TENSOR IF EXISTS {name}")
        self.execute(f"COPY {name} FROM '{path}'")
        if partition:
            self.execute(f"ALTER TENSOR {name} PARTITION ({', '.join(map(str, partition))})")
        os.remove(path)

    def drop(self, name):
        self.execute(f"DROP TENSOR IF EXISTS {name}")

    def array(self, query):
        """The result of a query, as an array."""
        path = os.path.join(self.folder, "result.npy")
        self.execute(f"COPY ({query}) TO '{path}'")
        result = np.load(path)
        os.remove(path)
        return result
