#!/usr/bin/python3
"""docs_test.py EINDB FILE...: runs the examples of the documentation.

The ```sql blocks of each Markdown file are run in order, in one database and in a fresh folder, and so are ```python
blocks and ```sh blocks, which find the program as `eindb`. A block marked error (```sql error) must fail. A ```text
block after it is its output in box mode, or its error message if it must fail.
"""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```((?:sql|sh|python)(?: error)?|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(eindb, language, text, folder):
    command = {"sql": [eindb, "--mode", "box", "my.db", "-c", text],
               "sh": ["sh", "-e", "-c", text],
               "python": [sys.executable, "-c", text]}[language]
    search = os.pathsep.join([os.path.dirname(eindb), os.environ["PATH"]])
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": search, "HOME": folder})
    return done.returncode, done.stdout, done.stderr


def check_file(eindb, path):
    text = open(path, encoding="utf-8").read()
    failures = examples = 0
    output = None
    with tempfile.TemporaryDirectory() as folder:
        for match in BLOCK.finditer(text):
            kind, body = match.groups()
            line = text.count("\n", 0, match.start()) + 1
            if kind == "text":
                if output is not None and output.split() != body.split():
                    failures += 1
                    print(f"{path}:{line}: expected\n{body}got\n{output}")
                output = None
                continue
            examples += 1
            language, _, fails = kind.partition(" ")
            status, output, errors = run(eindb, language, body, folder)
            if (status != 0) != bool(fails):
                failures += 1
                print(f"{path}:{line}: exit status {status}\n{body}{errors}")
            if fails:
                output = errors
    return examples, failures


def main():
    eindb, *paths = sys.argv[1:]
    results = [check_file(os.path.abspath(eindb), path) for path in paths]
    examples, failures = (sum(column) for column in zip(*results))
    print(f"{examples} examples in {len(paths)} files, {failures} failures")
    return 1 if failures or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
