#!/usr/bin/python3
"""docs_test.py EINDB FILE...: runs the examples of the documentation.

The ```sql blocks of each Markdown file are run in order, in one database and in a fresh folder, and so are ```python
blocks and ```sh blocks, which find the program and the extension for SQLite as `eindb`. A block marked error (```sql
error) must fail. A ```text block after it is its output in box mode, or its error message if it must fail.

Then all ```sql blocks of a file are typed into one shell, in order, so that what one of them sets must not break a later
one: each must fail or not, and print, as before.
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
    extensions = os.path.join(os.path.dirname(eindb), "sqlite")
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": search, "HOME": folder, "LD_LIBRARY_PATH": extensions})
    return done.returncode, done.stdout, done.stderr


class TypedShell:
    """A shell that reads statements as they are typed, after errors as well."""

    END = "end of the example"

    def __init__(self, eindb, folder):
        self.errors = open(os.path.join(folder, ".errors"), "w+b")
        self.process = subprocess.Popen([eindb, "--mode", "box", "my.db"], cwd=folder, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, env={**os.environ, "HOME": folder})
        self.run(".bail off")

    def run(self, text):
        """Whether a statement failed, and what was printed."""
        begin = os.fstat(self.errors.fileno()).st_size
        self.process.stdin.write(f"{text}\n;\n.print {self.END}\n")
        self.process.stdin.flush()
        printed = []
        for line in self.process.stdout:
            if line.strip() == self.END:
                break
            printed.append(line)
        else:
            raise RuntimeError("the shell has ended")
        self.errors.seek(begin)
        failed = any(line.startswith(b"stdin:") for line in self.errors.readlines())  # notes go there, too
        return failed, "".join(printed)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def check_in_order(eindb, path):
    """Types the examples into one shell; the number of failures."""
    text = open(path, encoding="utf-8").read()
    if not any(kind.startswith("sql") for kind, _ in BLOCK.findall(text)):
        return 0
    failures = 0
    output = None
    with tempfile.TemporaryDirectory() as folder:
        shell = TypedShell(eindb, folder)
        for match in BLOCK.finditer(text):
            kind, body = match.groups()
            where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}: typed in order,"
            language, _, fails = kind.partition(" ")
            if kind == "text":
                if output is not None and output.split() != body.split():
                    failures += 1
                    print(f"{where} expected\n{body}got\n{output}")
            elif language == "sql":
                failed, output = shell.run(body)
                if failed != bool(fails):
                    failures += 1
                    print(f"{where} {'failed' if failed else 'did not fail'}\n{body}")
            else:
                run(eindb, language, body, folder)
            if kind == "text" or language != "sql" or fails:
                output = None
        shell.close()
    return failures


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
    eindb = os.path.abspath(eindb)
    results = [check_file(eindb, path) for path in paths]
    examples, failures = (sum(column) for column in zip(*results))
    failures += sum(check_in_order(eindb, path) for path in paths)
    print(f"{examples} examples in {len(paths)} files, {failures} failures")
    return 1 if failures or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
