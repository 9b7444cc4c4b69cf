"""Compares the figures of the clients' tests with the table of docs/clients.md.

    tests/clients/table.py FOLDER docs/clients.md [--update]

FOLDER has a JSON file for each client, as figures.py writes it. The table lies between two marks in the document; each
row names a client, its version, what works, what does not, the test, and the figures. Versions and figures come from the
tests, the rest is written by hand. Exit status 1 if a figure got worse: fewer tests pass, more fail or are
excluded. Whatever else differs (a version, more tests that pass, figures of another kind, which may vary by machine) is
said, and --update writes it all.
"""

import argparse
import json
import pathlib
import re
import sys

BEGIN, END = "<!-- figures: tests/clients/table.py -->", "<!-- end of figures -->"
# The figures that must not get worse, and whether more is better.
BETTER_IF_MORE = {"passed": True, "failed": False, "excluded": False}


def read_figures(folder):
    """The figures by client: {"JDBC": {"version": "42.5.5", "passed": 69, "failed": 0}}."""
    all_figures = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        figures = json.loads(path.read_text(encoding="utf-8"))
        all_figures[figures.pop("client")] = figures
    return all_figures


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def shown(figures):
    """{"passed": 3, "failed": 0, "excluded": 1} as the table has it: 3 passed, 1 excluded."""
    return ", ".join(f"{value} {name}" for name, value in figures.items() if name != "version" and value)


def read_shown(text):
    return {name: float(value) for value, name in re.findall(r"([\d.]+) ([^\d,]+)", text)}


def differences(client, before, version, figures):
    """What differs from the row `before`, each with whether it is worse."""
    old_version, old_text = before[1], before[-1]
    found = [(f"{client}: version {version}, not {old_version}", False)] if version != old_version else []
    if not old_text:
        return [*found, (f"{client}: {shown(figures)}, and the table has no figures yet", False)]
    old = read_shown(old_text)
    for name, value in figures.items():
        was = old.get(name, 0)
        if float(value) != was:
            more_is_better = BETTER_IF_MORE.get(name)
            worse = more_is_better is not None and (float(value) < was) == more_is_better
            found.append((f"{client}: {value} {name}, not {was:g}" + (", which is worse" if worse else ""), worse))
    return found


def compare(rows, all_figures):
    """The rows with the figures of the tests, and what differs."""
    found, made = [], []
    for row in rows:
        figures = dict(all_figures.pop(row[0], {}))
        if not figures:
            print(f"{row[0]}: no figures, its test did not run")
            made.append(row)
            continue
        version = figures.pop("version")
        found += differences(row[0], row, version, figures)
        made.append([row[0], version, *row[2:-1], shown(figures)])
    for client, figures in sorted(all_figures.items()):
        version = figures.pop("version")
        found.append((f"{client}: {shown(figures)}, and the table has no row for it", False))
        made.append([client, version, "", "", "", shown(figures)])
    return made, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="write what differs into the document")
    arguments = parser.parse_args()
    text = arguments.document.read_text(encoding="utf-8")
    head, table, tail = re.fullmatch(f"(.*{BEGIN}\n)(.*)({END}.*)", text, re.DOTALL).groups()
    lines = [line for line in table.splitlines() if line]
    rows, found = compare([cells_of(line) for line in lines[2:]], read_figures(arguments.folder))
    for difference, _ in found:
        print(difference)
    if arguments.update:
        table = "\n".join(lines[:2] + ["| " + " | ".join(row) + " |" for row in rows])
        arguments.document.write_text(f"{head}{table}\n{tail}", encoding="utf-8")
        return 0
    if not found:
        print("all figures are those of the table")
    return 1 if any(worse for _, worse in found) else 0


if __name__ == "__main__":
    sys.exit(main())
