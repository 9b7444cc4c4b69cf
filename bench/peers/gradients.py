"""Compares gradients of softmax, attention, layer norm and a classifier in float32 with PyTorch's autograd."""

import numpy as np
import torch

from case import Outcome
from contestants import Call, Statement

TOLERANCE = 1e-5  # relative to the largest value of a gradient


class Case:
    """`definitions` end in the loss. `loss` computes the loss in PyTorch from a dict of tensors. The gradients are
    those with respect to `variables`."""

    def __init__(self, name, arrays, definitions, loss, variables):
        self.name = name
        self.arrays = arrays
        self.query = f"{definitions} WITH RESPECT TO ({', '.join(variables)})"
        self.loss = loss
        self.variables = variables

    def torch_gradients(self):
        tensors = {n: torch.from_numpy(a).requires_grad_(n in self.variables) for n, a in self.arrays.items()}
        loss = self.loss(tensors)
        return torch.autograd.grad(loss, [tensors[name] for name in self.variables])


def softmax(random, quick):
    n = 256 if quick else 2048
    return Case(
        f"softmax {n}x{n}",
        {"X": random((n, n), "float32") * np.float32(8), "W": random((n, n), "float32")},
        "GRADIENT OF L[] = SUM[i,j](W[i,j] * softmax(X[i,j], j))",
        lambda t: (t["W"] * torch.softmax(t["X"], dim=1)).sum(),
        ["X"],
    )


def attention(random, quick):
    """Causal attention with several heads."""
    tokens, heads, width = (64, 4, 16) if quick else (512, 8, 64)
    arrays = {name: random((tokens, heads, width), "float32") for name in ("Q", "K", "V", "W")}
    mask = torch.tril(torch.ones(tokens, tokens, dtype=torch.bool))

    def loss(t):
        scores = torch.einsum("shd,thd->hst", t["Q"], t["K"]) / width**0.5
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
        return (torch.einsum("hst,thd->shd", weights, t["V"]) * t["W"]).sum()

    return Case(
        f"causal attention {tokens} tokens, {heads} heads of {width}",
        arrays,
        f"WITH S[h,s,t] = SUM(Q[s,h,d] * K[t,h,d]) / {width**0.5}, "
        "M[h,s,t] = CASE WHEN t <= s THEN S[h,s,t] ELSE -INFINITY END, "
        "P[h,s,t] = softmax(M[h,s,t], t), O[s,h,d] = SUM(P[h,s,t] * V[t,h,d]) "
        "GRADIENT OF L[] = SUM(O[s,h,d] * W[s,h,d])",
        loss,
        ["Q", "K", "V"],
    )


def layer_norm(random, quick):
    rows, width = (64, 128) if quick else (4096, 1024)
    arrays = {"X": random((rows, width), "float32"), "W": random((rows, width), "float32")}
    arrays |= {"g": random((width,), "float32"), "b": random((width,), "float32")}
    return Case(
        f"layer norm {rows}x{width}",
        arrays,
        "WITH N[i,j] = layernorm(X[i,j], j) * g[j] + b[j] GRADIENT OF L[] = SUM(W[i,j] * N[i,j])",
        lambda t: (t["W"] * torch.nn.functional.layer_norm(t["X"], (width,), t["g"], t["b"])).sum(),
        ["X", "g", "b"],
    )


def classifier(random, quick):
    """A classifier with one hidden layer, whose loss is the cross entropy of softmax."""
    batch, inputs, hidden, labels = (16, 64, 32, 10) if quick else (128, 8192, 1024, 1024)
    answers = np.random.default_rng(3).integers(labels, size=batch)
    arrays = {
        "X": random((batch, inputs), "float32"),
        "W1": random((inputs, hidden), "float32") * np.float32(inputs**-0.5),
        "W2": random((hidden, labels), "float32"),
        "Y": np.eye(labels, dtype="float32")[answers],
    }

    def loss(t):
        scores = torch.relu(t["X"] @ t["W1"]) @ t["W2"]
        return torch.nn.functional.cross_entropy(scores, t["Y"])

    return Case(
        f"classifier {batch} of {inputs}, {hidden} hidden, {labels} labels",
        arrays,
        "WITH H[b,h] = RELU(SUM[a](X[b,a] * W1[a,h])), Z[b,l] = SUM(H[b,h] * W2[h,l]) "
        f"GRADIENT OF L[] = (SUM[b](LOGSUMEXP[l](Z[b,l])) - SUM[b,l](Y[b,l] * Z[b,l])) / {batch}",
        loss,
        ["W1", "W2"],
    )


def relative_error(result, expected):
    if result.shape != expected.shape:
        return np.inf
    return float(np.max(np.abs(result - expected)) / np.max(np.abs(expected)))


def error_of(eindb, case):
    """The largest error of the gradients of all variables. One CREATE TENSOR stores all gradients."""
    names = [f"d{name}" for name in case.variables]
    eindb.execute(f"CREATE OR REPLACE TENSOR ({', '.join(names)}) AS {case.query}")
    results = [eindb.array(f"EINSUM R[{i}] = {name}[{i}]") for name, i in zip(names, axes(case), strict=True)]
    errors = [relative_error(r, e.numpy()) for r, e in zip(results, case.torch_gradients(), strict=True)]
    for name in names:
        eindb.drop(name)
    return max(errors)


def axes(case):
    return [",".join("ijk"[: case.arrays[name].ndim]) for name in case.variables]


def run(context):
    for build in (softmax, attention, layer_norm, classifier):
        case = build(context.random, context.quick)
        if not context.selects(case.name):
            continue
        for name, array in case.arrays.items():
            context.eindb.store(name, array)
        outcome = Outcome("gradients", f"{case.name}, float32")
        outcome.add("relative error", error_of(context.eindb, case), at_most=TOLERANCE)
        contestants = {"eindb": Statement(context.eindb, case.query), "torch": Call(case.torch_gradients)}
        context.compare(outcome, contestants)
        yield outcome
