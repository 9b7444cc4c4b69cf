"""LLaMA's architecture in idiomatic PyTorch: matrices are F.linear, heads are a batch of products."""

import math

import torch
import torch.nn.functional as F


def rmsnorm(x, weight, epsilon):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight


def rotations(length, head_features, theta):
    frequencies = theta ** (-torch.arange(0, head_features, 2).float() / head_features)
    angles = torch.arange(length).float()[:, None] * frequencies
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    """`x` is indexed [b, h, s, d]."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class Llama:
    """`weight(name)` is called whenever a weight is needed. It may look up a dictionary, or read a file."""

    def __init__(self, entries, weight):
        self._entries = entries
        self._weight = weight

    def features_after_layers(self, tokens):
        entries = self._entries
        x = F.embedding(tokens, self._weight("model.embed_tokens.weight"))
        heads = entries["num_attention_heads"]
        cos, sin = rotations(x.shape[1], entries["hidden_size"] // heads, entries["rope_theta"])
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1)
        for t in range(entries["num_hidden_layers"]):
            x = self._layer(x, lambda name: self._weight(f"model.layers.{t}.{name}.weight"), cos, sin, mask)
        return rmsnorm(x, self._weight("model.norm.weight"), entries["rms_norm_eps"])

    def logits(self, tokens):
        return F.linear(self.features_after_layers(tokens), self._weight("lm_head.weight"))

    def first_logits(self, tokens):
        """The logits of the token after the prompt."""
        return F.linear(self.features_after_layers(tokens)[:, -1], self._weight("lm_head.weight"))

    def _layer(self, x, weight, cos, sin, mask):
        epsilon = self._entries["rms_norm_eps"]
        x = x + self._attention(rmsnorm(x, weight("input_layernorm"), epsilon), weight, cos, sin, mask)
        m = rmsnorm(x, weight("post_attention_layernorm"), epsilon)
        u = F.silu(F.linear(m, weight("mlp.gate_proj"))) * F.linear(m, weight("mlp.up_proj"))
        return x + F.linear(u, weight("mlp.down_proj"))

    def _attention(self, n, weight, cos, sin, mask):
        b, s, _ = n.shape
        heads, groups = self._entries["num_attention_heads"], self._entries["num_key_value_heads"]

        def projected(name, count):
            return F.linear(n, weight(f"self_attn.{name}_proj")).view(b, s, count, -1).transpose(1, 2)

        q, k = rotate(projected("q", heads), cos, sin), rotate(projected("k", groups), cos, sin)
        v = projected("v", groups)
        k, v = (x.repeat_interleave(heads // groups, dim=1) for x in (k, v))
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(q.shape[-1]) + mask
        seen = torch.matmul(torch.softmax(scores, dim=-1), v)
        return F.linear(seen.transpose(1, 2).reshape(b, s, -1), weight("self_attn.o_proj"))
