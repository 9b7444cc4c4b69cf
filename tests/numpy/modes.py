"""Runs the same statements in several modes of eindb, and holds what each mode writes against arrays of NumPy."""

import contextlib
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cluster"))

import nodes  # noqa: E402


def partitioned(partitions):
    """Statements that cut stored tensors, from {tensor: parts of each dimension}."""
    return "".join(f"ALTER TENSOR {name} PARTITION ({', '.join(map(str, parts))});" for name, parts in partitions.items())


def query_modes(before, disabled):
    """The modes of queries: over whole tensors, and over those that the statements `before` cut, on many threads, in
    little memory, without the passes `disabled`, and on workers."""
    return {
        "whole": "",
        "tiles": before + "SET parallelism = 16;",
        "little memory": before + "SET parallelism = 8; SET memory_limit = '2MiB'; SET tile_bytes = 4096;",
        "without passes": before + f"SET disabled_passes = '{disabled}';",
        "workers": before + "SET workers = 3; SET small_statements = 'workers';",
    }


def compare(modes, values, cases, agrees=lambda n, found, expected: np.array_equal(found, expected)):
    """Loads the arrays `values`, {tensor: array}, and runs the cases one after the other in each mode. `modes`: {name:
    statements that precede}; "workers" has three workers, and "transaction" is committed at the end. `cases`: pairs of a
    statement, in which @ stands for the file that the result goes to, and the expected array. `agrees` is told the
    case's number, too. Prints the first results that do not agree, and returns the exit status."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        workers = [stack.enter_context(contextlib.closing(nodes.Worker(f"{folder}/w{n}"))) for n in range(3)]
        cluster = ["--workers", ",".join(worker.address for worker in workers), "--secret-file", nodes.SECRET_FILE]
        load = []
        for name, array in values.items():
            np.save(f"{folder}/{name}.npy", array)
            load.append(f"COPY {name} FROM '{folder}/{name}.npy';")
        for number, (mode, before) in enumerate(modes.items()):
            script = [*load, before]
            script += [text.replace("@", f"'{folder}/r{number}_{n}.npy'") + ";" for n, (text, _) in enumerate(cases)]
            if mode == "transaction":
                script.append("COMMIT;")
            options = cluster if mode == "workers" else []
            process = subprocess.run([nodes.EINDB, *options], input="\n".join(script), capture_output=True, text=True)
            if process.returncode != 0:
                print(f"{mode}: {process.stderr}")
                failed += 1
            for n, (text, expected) in enumerate(cases):
                path = f"{folder}/r{number}_{n}.npy"
                found = np.load(path) if os.path.exists(path) else None
                if found is not None and agrees(n, found, expected):
                    continue
                failed += 1
                if failed < 6:
                    print(f"{mode}: {text}\nexpected {expected.tolist()}\n"
                          f"found {None if found is None else found.tolist()}")
    print(f"{len(modes) * len(cases)} results, {failed} failed")
    return 1 if failed else 0
