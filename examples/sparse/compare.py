#!/usr/bin/python3
"""compare.py EINDB [NAME...] [--size small|large] [--write FOLDER]

Runs the scripts of this folder, or those named, through eindb, computes the same with the usual tool, and compares the
numbers. A line per example: its name, the size of its inputs, the largest difference relative to the largest number, and the
seconds that eindb and the tool take for what stands below the line "-- Computation" of the script, the second time.
Fails if a difference is larger than rounding explains. --write only writes the files that the scripts read.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

import inputs
from peers import PEERS

FOLDER = os.path.dirname(os.path.abspath(__file__))
END = "-- the end of what a statement printed --"
SECTION = re.compile(r"^-- (Inputs|Computation|Result|The same in SQL)\b.*$", re.MULTILINE)
TOLERANCE = 1e-9
TOLERANCES = {"cp": 1e-6}  # the least squares of factors that are nearly parallel


class Shell:
    """eindb with a database in memory, which reads statements from a pipe."""

    def __init__(self, program, folder):
        self._errors = tempfile.TemporaryFile(mode="w+")
        command = [program, "--norc", "--noheader", "--mode", "list", ":memory:"]
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        self.run(".bail off")

    def run(self, statements):
        """Runs statements; their output. Raises RuntimeError with what the program says if one fails."""
        self._process.stdin.write(f"{statements}\n;\nSELECT '{END}';\n")
        self._process.stdin.flush()
        lines = []
        for line in self._process.stdout:
            if line.rstrip("\n") == END:
                break
            lines.append(line)
        else:
            raise RuntimeError(f"eindb has ended: {self._take_errors()}")
        errors = self._take_errors()
        if re.search("^stdin:", errors, re.MULTILINE):
            raise RuntimeError(errors)
        return "".join(lines)

    def _take_errors(self):
        self._errors.seek(0)
        text = self._errors.read()
        self._errors.seek(0)
        self._errors.truncate()
        return text

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()


def sections(name, size, files):
    """The statements of a script by the titles of its sections."""
    with open(os.path.join(FOLDER, name + ".sql"), encoding="utf-8") as file:
        text = file.read()
    if name == "models" and size != "small":  # its own formula is the small one
        text = inputs.with_clauses(text, files["formula.npy"])
    parts = SECTION.split(text)
    return dict(zip(parts[1::2], parts[2::2]))


def timed(compute):
    """What it gives, and the seconds of the second time."""
    compute()
    begin = time.perf_counter()
    result = compute()
    return result, time.perf_counter() - begin


def difference(result, expected):
    """Relative to the largest number; infinities must be in the same places."""
    expected = np.asarray(expected, dtype=float)
    result = np.asarray(result, dtype=float)
    finite = np.isfinite(expected)
    if result.shape != expected.shape or not np.array_equal(result[~finite], expected[~finite]):
        return np.inf
    if not finite.any():
        return 0.0
    return np.abs(result[finite] - expected[finite]).max() / max(np.abs(expected[finite]).max(), 1e-300)


def compare(eindb, name, size):
    """Prints the line of an example; whether the numbers agree."""
    files = inputs.make(name, size)
    tool, peer = PEERS[name]
    expected, peer_seconds = timed(peer(files))
    with tempfile.TemporaryDirectory() as folder:
        inputs.write(folder, files)
        shell = Shell(eindb, folder)
        parts = sections(name, size, files)
        shell.run(parts["Inputs"])
        _, seconds = timed(lambda: shell.run(parts["Computation"]))
        times = f"eindb {seconds:.4f} s, {tool} {peer_seconds:.4f} s"
        largest = 0.0
        for tensor, values in expected.items():
            shell.run(f"COPY {tensor} TO 'result.npy'")
            largest = max(largest, difference(np.load(os.path.join(folder, "result.npy")), values))
        if statements := parts.get("The same in SQL"):
            printed, sql_seconds = timed(lambda: shell.run(statements))
            times += f", SQL {sql_seconds:.4f} s"
            largest = max(largest, difference(float(printed), expected["triangles"].sum() / 3))
        shell.run(parts["Result"])
        shell.close()
    agrees = largest <= TOLERANCES.get(name, TOLERANCE)
    described = ", ".join(f"{key} {value}" for key, value in inputs.SIZES[name][size].items())
    print(f"{name} ({described}): largest difference {largest:.1e}, {times}{'' if agrees else '  WRONG'}", flush=True)
    return agrees


def main():
    parser = argparse.ArgumentParser(description="Runs the examples of sparse tensors beside their usual tools.")
    parser.add_argument("eindb", help="the program")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all without: {', '.join(PEERS)}")
    parser.add_argument("--size", choices=("small", "large"), default="small")
    parser.add_argument("--write", metavar="FOLDER", help="writes the files that the scripts read there, and ends")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in PEERS]:
        parser.error(f"there is no example {unknown[0]}")
    names = options.names or list(PEERS)
    if options.write:
        os.makedirs(options.write, exist_ok=True)
        for name in names:
            inputs.write(options.write, inputs.make(name, options.size))
        return 0
    eindb = os.path.abspath(options.eindb)
    return 0 if all([compare(eindb, name, options.size) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
