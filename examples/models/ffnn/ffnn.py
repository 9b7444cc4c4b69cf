"""Generates the statements that train a feed-forward classifier, from step.sql. Needs the standard library only."""

from dataclasses import dataclass
from pathlib import Path
from string import Template

STEP = Path(__file__).with_name("step.sql")


@dataclass(frozen=True)
class Classifier:
    """The sizes of a classifier and of its data, which consists of `batches` batches of `batch` inputs each."""

    batches: int
    batch: int
    features: int
    hidden: int
    labels: int
    rate: float = 0.1


def text(path):
    return str(path).replace("'", "''")


def read_script(model, inputs, targets):
    """Statements that read X and T from lists of cells: a line `n,b,i,value` for each nonzero feature and label."""
    for name, path, last in (("X", inputs, model.features), ("T", targets, model.labels)):
        shape = f"{model.batches},{model.batch},{last}"
        yield f"CREATE TENSOR {name} (n {model.batches}, b {model.batch}, i {last}) FLOAT32"
        yield f"COPY {name} FROM '{text(path)}' (LAYOUT coordinates, SHAPE '{shape}')"


def weight_script(model):
    """Statements that create small random weights."""
    i, h, c = model.features, model.hidden, model.labels
    yield f"CREATE TENSOR W1 FLOAT32 AS EINSUM W[i {i}, h {h}] = RANDN(1) * SQRT(2 / {i})"
    yield f"CREATE TENSOR W2 FLOAT32 AS EINSUM W[h {h}, l {c}] = RANDN(2) * SQRT(2 / {h})"
    yield f"CREATE TENSOR losses (n {model.batches}) FLOAT32"


def step(model):
    return Template(STEP.read_text()).substitute(rate=model.rate).rstrip()


def training(model, epochs):
    """The training loop. Every epoch is a transaction, so an interrupted training continues with its epoch."""
    return f"REPEAT {epochs} AS epoch {{\nREPEAT {model.batches} AS n {{\n{step(model)}\n}} }}"
