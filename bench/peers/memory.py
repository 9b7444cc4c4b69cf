"""The skewed chain with a memory limit of an eighth of its inputs and intermediates, each time in a fresh process."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np

from case import Outcome
from chains import Chain, store

MEBIBYTE = 1 << 20


# The peak memory of a process includes that before exec, and this process holds the inputs. Therefore a small
# interpreter starts the program.
WATCH = """
import os, sys
output, *command = sys.argv[1:]
to_output = [(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
pid = os.posix_spawn(command[0], command, os.environ, file_actions=to_output)
_, status, usage = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""


def run_process(program, arguments, output):
    """Runs the program to its end. Returns its exit status, and its peak of resident bytes as the kernel reports it."""
    command = [sys.executable, "-I", "-S", "-c", WATCH, output, program, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    status, resident = map(int, done.stdout.split())
    return status, resident


def analyze(context, query, options):
    """(execution seconds, peak of resident bytes) of EXPLAIN ANALYZE in a fresh process."""
    with tempfile.NamedTemporaryFile(mode="r") as output:
        arguments = [context.eindb.database, *options, "--mode", "list", "--noheader"]
        arguments += ["-c", f"EXPLAIN (ANALYZE, FORMAT json) {query}"]
        status, resident = run_process(context.eindb.program, arguments, output.name)
        if status != 0:
            raise RuntimeError(f"status {status} with {' '.join(options)}")
        return json.load(output)["execution_seconds"], resident


def result_of(context, query, options):
    path = os.path.join(context.eindb.folder, "limited.npy")
    arguments = [context.eindb.database, *options, "-c", f"COPY ({query}) TO '{path}'"]
    status, _ = run_process(context.eindb.program, arguments, os.devnull)
    if status != 0:
        raise RuntimeError(f"status {status} with {' '.join(options)}")
    return np.load(path)


def elements_of(chain):
    """The number of elements of inputs and intermediates: D x E and both added products. The result is not counted."""
    m, _, n, k2, _ = chain.sizes
    return sum(rows * columns for rows, columns in chain.shapes().values()) + k2 * n + 2 * m * n


def run_limited(context, chain):
    outcome = Outcome("memory", chain.name)
    arrays = chain.arrays(context)
    store(context, arrays)
    size = elements_of(chain) * np.dtype(chain.dtype).itemsize
    limit = size // 8 // MEBIBYTE * MEBIBYTE
    options = ["--memory-limit", f"{limit // MEBIBYTE}MiB"]
    outcome.notes["limit MiB"] = limit // MEBIBYTE
    unlimited, limited = [], []
    try:
        for _ in range(context.rounds):
            unlimited.append(analyze(context, chain.query, []))
            limited.append(analyze(context, chain.query, options))
    except RuntimeError as error:
        outcome.notes["failed"] = str(error)
        outcome.add("slowdown", float("inf"), at_most=3)
        return outcome
    same = np.array_equal(result_of(context, chain.query, options), result_of(context, chain.query, []))
    outcome.notes["same bits"] = bool(same)
    outcome.seconds["unlimited"] = statistics.median(seconds for seconds, _ in unlimited)
    outcome.seconds["limited"] = statistics.median(seconds for seconds, _ in limited)
    outcome.add("slowdown", statistics.median(x[0] / y[0] for x, y in zip(limited, unlimited)), at_most=3)
    outcome.add("resident over limit", max(resident for _, resident in limited) / limit, at_most=1.15)
    outcome.notes["resident MiB of an empty statement"] = analyze(context, "EINSUM Z[] = 1", [])[1] / MEBIBYTE
    outcome.notes["resident MiB unlimited"] = max(resident for _, resident in unlimited) / MEBIBYTE
    return outcome


def run(context):
    # The sizes are so large that the program itself, some 15 MiB, does not matter.
    chain = Chain("skewed", 4000, "float32")
    if context.selects(chain.name):
        yield run_limited(context, chain)
