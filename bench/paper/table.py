"""Tables as text, for people and for the file of results."""

import sys


def text_of(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


class Table:
    """Rows under named columns. The title says whether the values are measured or planned."""

    def __init__(self, title, columns):
        self.title = title
        self.columns = columns
        self.rows = []

    def add(self, *values):
        assert len(values) == len(self.columns)
        self.rows.append(values)
        print("  ".join(map(text_of, values)), file=sys.stderr, flush=True)  # shows progress

    def __str__(self):
        cells = [self.columns] + [[text_of(value) for value in row] for row in self.rows]
        widths = [max(len(row[n]) for row in cells) for n in range(len(self.columns))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
        return "\n".join([self.title, *lines]) + "\n"
