"""LLaMA's architecture in NumPy, in double precision, as the oracle of examples/models/llama. It follows the
description of the architecture, position by position if that is simpler."""

import numpy as np


def rmsnorm(x, weight, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def rotate(x, theta):
    """`x` is indexed [s, head, d]. The features p of the first and of the second half are the coordinates of a point,
    which is rotated by s * theta^(-2p/d)."""
    length, _, d = x.shape
    angle = np.arange(length)[:, None] * theta ** (-2 * np.arange(d // 2) / d)
    points = (x[..., : d // 2] + 1j * x[..., d // 2 :]) * np.exp(1j * angle)[:, None, :]
    return np.concatenate([points.real, points.imag], axis=-1)


def attention(q, k, v):
    """Attention of one head, whose arguments are indexed [s, d]. Every position attends to those up to itself."""
    out = np.empty_like(v)
    for s in range(len(q)):
        scores = k[: s + 1] @ q[s] / np.sqrt(q.shape[1])
        shares = np.exp(scores - scores.max())
        out[s] = shares @ v[: s + 1] / shares.sum()
    return out


def layer(x, weight, entries):
    heads, groups = entries["num_attention_heads"], entries["num_key_value_heads"]
    length = len(x)
    n = rmsnorm(x, weight("input_layernorm"), entries["rms_norm_eps"])
    q, k, v = (n @ weight(f"self_attn.{name}_proj").T for name in "qkv")
    q = rotate(q.reshape(length, heads, -1), entries["rope_theta"])
    k = rotate(k.reshape(length, groups, -1), entries["rope_theta"])
    v = v.reshape(length, groups, -1)
    shared = heads // groups
    seen = [attention(q[:, h], k[:, h // shared], v[:, h // shared]) for h in range(heads)]
    x = x + np.concatenate(seen, axis=-1) @ weight("self_attn.o_proj").T
    m = rmsnorm(x, weight("post_attention_layernorm"), entries["rms_norm_eps"])
    gate, up = m @ weight("mlp.gate_proj").T, m @ weight("mlp.up_proj").T
    return x + (gate / (1 + np.exp(-gate)) * up) @ weight("mlp.down_proj").T


def logits(checkpoint, tokens):
    """The logits [b, s, v] of tokens[b][s]."""
    entries = checkpoint.entries
    embedding = checkpoint["model.embed_tokens.weight"].astype(np.float64)
    output = embedding if entries["tie_word_embeddings"] else checkpoint["lm_head.weight"].astype(np.float64)
    out = []
    for sequence in tokens:
        x = embedding[list(sequence)]
        for t in range(entries["num_hidden_layers"]):
            x = layer(x, lambda name: checkpoint[f"model.layers.{t}.{name}.weight"].astype(np.float64), entries)
        x = rmsnorm(x, checkpoint["model.norm.weight"].astype(np.float64), entries["rms_norm_eps"])
        out.append(x @ output.T)
    return np.array(out)
