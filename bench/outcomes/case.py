"""The outcome of a measured case: times, and figures with targets."""

import math
from dataclasses import dataclass, field


@dataclass
class Figure:
    """A number with a target. The target is met if the number is not below `at_least`, or not above `at_most`."""

    name: str
    value: float
    at_least: float | None = None
    at_most: float | None = None

    def met(self):
        if self.at_least is not None and self.value < self.at_least:
            return False
        return self.at_most is None or self.value <= self.at_most

    def verdict(self):
        if self.at_least is None and self.at_most is None:
            return ""
        wanted = f">= {self.at_least:g}" if self.at_least is not None else f"<= {self.at_most:g}"
        return f"{wanted} {'met' if self.met() else 'MISSED'}"

    def to_json(self):
        """A failed case takes infinitely long. JSON has no infinity, so the value is null."""
        value = self.value if math.isfinite(self.value) else None
        return {"value": value, "at_least": self.at_least, "at_most": self.at_most, "met": self.met()}

    @staticmethod
    def from_json(name, data):
        value = math.inf if data["value"] is None else data["value"]
        return Figure(name, value, data["at_least"], data["at_most"])


@dataclass
class Outcome:
    """One case: median seconds of every contestant, and the figures drawn from the rounds."""

    group: str
    name: str
    seconds: dict = field(default_factory=dict)
    figures: list = field(default_factory=list)
    notes: dict = field(default_factory=dict)  # spellings of the peers, error against NumPy, ...

    def add(self, name, value, at_least=None, at_most=None):
        self.figures.append(Figure(name, value, at_least, at_most))

    def value(self, name):
        return next((figure.value for figure in self.figures if figure.name == name), None)

    def to_json(self):
        figures = {figure.name: figure.to_json() for figure in self.figures}
        return {"group": self.group, "case": self.name, "seconds": self.seconds, "figures": figures, "notes": self.notes}

    @staticmethod
    def from_json(data):
        figures = [Figure.from_json(name, figure) for name, figure in data["figures"].items()]
        return Outcome(data["group"], data["case"], data["seconds"], figures, data["notes"])
