"""Measures attention of 512 tokens with 32 heads of 64 features, and softmax of 4096 x 4096."""

import numpy as np
import torch

from case import Outcome
from contestants import Call, Statement, fastest
from context import check_close

TOKENS, HEADS, WIDTH = 512, 32, 64
SCALE = 1 / 8  # 1 / sqrt(WIDTH)
ATTENTION = (
    f"WITH S[h,q,k] = SUM(Q[q,h,d] * K[k,h,d]) * {SCALE}, P[h,q,k] = softmax(S[h,q,k], k) "
    "EINSUM O[q,h,d] = SUM(P[h,q,k] * V[k,h,d])"
)
SOFTMAX = "EINSUM Y[i,j] = softmax(X[i,j], j)"


def numpy_softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    e /= e.sum(axis=-1, keepdims=True)
    return e


def numpy_attention(q, k, v):
    scores = np.matmul(q.transpose(1, 0, 2), k.transpose(1, 2, 0))
    scores *= np.float32(SCALE)
    return np.matmul(numpy_softmax(scores), v.transpose(1, 0, 2)).transpose(1, 0, 2)


def torch_einsum_attention(q, k, v):
    scores = torch.einsum("qhd,khd->hqk", q, k) * SCALE
    return torch.einsum("hqk,khd->qhd", torch.softmax(scores, dim=-1), v)


def torch_scaled_first(q, k, v):
    scores = torch.einsum("qhd,khd->hqk", q * SCALE, k)
    return torch.einsum("hqk,khd->qhd", torch.softmax(scores, dim=-1), v)


def torch_matmul_attention(q, k, v):
    scores = torch.matmul(q.permute(1, 0, 2), k.permute(1, 2, 0)).mul_(SCALE)
    return torch.matmul(torch.softmax(scores, dim=-1), v.permute(1, 0, 2)).permute(1, 0, 2)


def compare(context, outcome, arrays, query, numpy_ways, torch_ways, summed):
    for name, array in arrays.items():
        context.eindb.store(name, array)
    values = list(arrays.values())
    tensors = [torch.from_numpy(array) for array in values]
    numpy_call = fastest([Call(lambda way=way: way(*values)) for way in numpy_ways])
    torch_call = fastest([Call(lambda way=way: way(*tensors), way.__name__) for way in torch_ways])
    check_close(outcome, context.eindb.array(query), numpy_call.function(), summed)
    contestants = {"eindb": Statement(context.eindb, query), "numpy": numpy_call, "torch": torch_call}
    context.compare(outcome, contestants)
    for figure in outcome.figures:
        if figure.name == "over torch":
            figure.at_least = 1.3
    return outcome


def run_attention(context):
    outcome = Outcome("attention", f"attention {TOKENS} tokens, {HEADS} heads of {WIDTH}, float32")
    arrays = {name: context.random((TOKENS, HEADS, WIDTH), "float32") for name in "QKV"}
    ways = [torch_einsum_attention, torch_scaled_first, torch_matmul_attention]
    compare(context, outcome, arrays, ATTENTION, [numpy_attention], ways, WIDTH + TOKENS)
    flops = 4.0 * TOKENS * TOKENS * WIDTH * HEADS
    size = arrays["Q"].nbytes
    context.add_roofline(outcome, "float32", flops, 3 * size, size)
    yield outcome


def softmax_last(x):
    return torch.softmax(x, dim=-1)


def run_softmax(context):
    outcome = Outcome("softmax", "softmax 4096x4096 float32")
    arrays = {"X": context.random((4096, 4096), "float32") * np.float32(8)}
    compare(context, outcome, arrays, SOFTMAX, [numpy_softmax], [softmax_last], 4096)
    context.add_roofline(outcome, "float32", 0.0, arrays["X"].nbytes, arrays["X"].nbytes)
    yield outcome
