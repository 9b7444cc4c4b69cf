#!/usr/bin/python3
"""Compares random subscript strings with numpy.einsum: implicit and explicit outputs, ellipses with dimensions of
extent 1, repeated labels, scalars, spaces. eindb refuses strings that NumPy refuses, except for its extensions (output
diagonals).

All cases form one script. The operands are .npy files of small integers, so results are exact. Every result is exported
to a .npy file.
"""
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

CASES = 400
EXTENTS = {"i": 2, "j": 3, "k": 4, "l": 1, "A": 2, "b": 3}


def random_operand(rng, ellipsis_shape):
    """Random subscripts, and an array that fits them."""
    labels = [rng.choice(list(EXTENTS)) for _ in range(rng.randrange(0, 4))]
    shape = [EXTENTS[label] for label in labels]
    subscripts = "".join(labels)
    for place, label in enumerate(labels):
        # NumPy broadcasts dimensions of extent 1, but not those of a diagonal.
        if rng.random() < 0.15 and labels.count(label) == 1:
            shape[place] = 1
    if rng.random() < 0.4:
        rank = rng.randrange(0, len(ellipsis_shape) + 1)
        own = [1 if rng.random() < 0.3 else extent for extent in ellipsis_shape[len(ellipsis_shape) - rank:]]
        place = rng.randrange(0, len(labels) + 1)
        subscripts = subscripts[:place] + "..." + subscripts[place:]
        shape[place:place] = own
    return subscripts, np.random.default_rng(rng.randrange(1 << 30)).integers(-3, 4, shape).astype(float)


def random_case(rng):
    ellipsis_shape = [rng.choice([2, 3]) for _ in range(rng.randrange(0, 3))]
    operands = [random_operand(rng, ellipsis_shape) for _ in range(rng.randrange(1, 5))]
    terms = ",".join(subscripts for subscripts, _ in operands)
    if rng.random() < 0.7:
        labels = sorted({c for c in terms if c.isalpha()})
        rng.shuffle(labels)
        output = "".join(labels[:rng.randrange(0, len(labels) + 1)])
        if "..." in terms and rng.random() < 0.9:
            place = rng.randrange(0, len(output) + 1)
            output = output[:place] + "..." + output[place:]
        terms += "->" + output
    if rng.random() < 0.3:
        terms = terms.replace(",", " , ").replace("->", " -> ")
    return terms, [values for _, values in operands]


def expected_result(subscripts, values):
    try:
        return np.einsum(subscripts, *values)
    except ValueError:
        return None


def run(eindb, folder, script):
    return subprocess.run([eindb, f"{folder}/test.db", "-c", script], capture_output=True, text=True)


def main():
    eindb = os.path.abspath(sys.argv[1])
    rng = random.Random(20261120)
    failed = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        script, wanted = [], []
        for number in range(CASES):
            subscripts, values = random_case(rng)
            expected = expected_result(subscripts, values)
            names = []
            for n, value in enumerate(values):
                names.append(f"T{number}_{n}")
                np.save(f"{folder}/{names[-1]}.npy", value)
                script.append(f"COPY {names[-1]} FROM '{folder}/{names[-1]}.npy';")
            statement = f"EINSUM '{subscripts}' ({', '.join(names)})"
            if expected is None:
                refused += 1
            else:
                script.append(f"COPY ({statement}) TO '{folder}/R{number}.npy';")
            wanted.append((number, statement, expected))
        done = run(eindb, folder, "\n".join(script))
        if done.returncode != 0:
            print(f"FAILED: exit status {done.returncode}: {done.stderr}")
            return 1
        for number, statement, expected in wanted:
            if expected is None:
                if run(eindb, folder, statement).returncode == 0:
                    failed += 1
                    print(f"FAILED: NumPy refuses {statement}")
                continue
            result = np.load(f"{folder}/R{number}.npy")
            if result.shape != expected.shape or not np.array_equal(result, expected):
                failed += 1
                print(f"FAILED: {statement}\n  shape {result.shape}, expected {expected.shape}\n{result}\n{expected}")
    print(f"{CASES} subscript strings, {refused} of them refused by NumPy too, {failed} failed")
    print(f"reliability random_subscripts tries={CASES} failed={failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
