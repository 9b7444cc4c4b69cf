"""Line plots, as SVG and PNG. The title of each panel says whether its values are measured or planned."""

import os
from dataclasses import dataclass, field


@dataclass
class Panel:
    """`lines` is {name: [(x, y), ...]}. A gap has y = None."""

    title: str
    x: str
    y: str
    lines: dict = field(default_factory=dict)
    logarithmic: bool = False

    def add(self, line, x, y):
        self.lines.setdefault(line, []).append((x, y))


MARKERS = "os^Dvx*+"
MOST_COLUMNS = 4


def draw_panel(axes, panel):
    for marker, (name, points) in zip(MARKERS, panel.lines.items()):
        there = [(x, y) for x, y in points if y is not None]
        axes.plot([x for x, _ in there], [y for _, y in there], marker=marker, label=name)
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    axes.set_xticks(sorted({x for points in panel.lines.values() for x, _ in points}))
    if panel.logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")


def draw(panels, path):
    """Writes path.svg and path.png, and returns both paths."""
    import matplotlib

    matplotlib.use("Agg")
    # With a fixed salt equal numbers give equal bytes.
    matplotlib.rcParams["svg.hashsalt"] = os.path.basename(path)
    from matplotlib import pyplot

    columns = min(len(panels), MOST_COLUMNS)
    rows = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(5.2 * columns, 4.2 * rows), squeeze=False)
    for panel, place in zip(panels, axes.flat):
        draw_panel(place, panel)
    for place in axes.flat[len(panels):]:
        place.set_visible(False)
    figure.tight_layout()
    paths = [path + ".svg", path + ".png"]
    figure.savefig(paths[0], metadata={"Date": None})
    figure.savefig(paths[1], dpi=110)
    pyplot.close(figure)
    return paths
