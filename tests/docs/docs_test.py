#!/usr/bin/python3
"""docs_test.py EINDB FILE...: runs the examples of the documentation.

In each Markdown file the ```sql blocks are run in order, in one database; a ```text block that follows a ```sql block
must be what eindb prints for it in box mode. A block marked ```sql error must fail. Files with relative paths are made in
a folder of the document's own.
"""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(sql error|sql|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(eindb, database, sql):
    done = subprocess.run([eindb, "--mode", "box", database, "-c", sql], capture_output=True, text=True,
                          cwd=os.path.dirname(database))
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
            status, output, errors = run(eindb, f"{folder}/docs.db", body)
            if (status != 0) != (kind == "sql error"):
                failures += 1
                print(f"{path}:{line}: exit status {status}\n{body}{errors}")
            if kind == "sql error":
                output = errors
    return examples, failures


def main():
    eindb, *paths = map(os.path.abspath, sys.argv[1:])
    results = [check_file(eindb, path) for path in paths]
    examples, failures = (sum(column) for column in zip(*results))
    print(f"{examples} examples in {len(paths)} files, {failures} failures")
    return 1 if failures or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
