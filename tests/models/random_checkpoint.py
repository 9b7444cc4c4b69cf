"""Creates checkpoints of LLaMA's architecture with random weights, with the names and the layout of published ones."""

import json
import struct

import numpy as np


def config_entries(layers, features, heads, groups, feed_forward, vocabulary, **others):
    """The contents of config.json."""
    return {
        "model_type": "llama",
        "hidden_act": "silu",
        "num_hidden_layers": layers,
        "hidden_size": features,
        "num_attention_heads": heads,
        "num_key_value_heads": groups,
        "intermediate_size": feed_forward,
        "vocab_size": vocabulary,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        **others,
    }


def shapes(entries):
    """{name: (out, in)} of every weight."""
    a, f, v = entries["hidden_size"], entries["intermediate_size"], entries["vocab_size"]
    d = entries.get("head_dim") or a // entries["num_attention_heads"]
    queries, keys = entries["num_attention_heads"] * d, entries["num_key_value_heads"] * d
    out = {"model.embed_tokens.weight": (v, a)}
    for t in range(entries["num_hidden_layers"]):
        layer = f"model.layers.{t}."
        out[layer + "input_layernorm.weight"] = (a,)
        out[layer + "self_attn.q_proj.weight"] = (queries, a)
        out[layer + "self_attn.k_proj.weight"] = (keys, a)
        out[layer + "self_attn.v_proj.weight"] = (keys, a)
        out[layer + "self_attn.o_proj.weight"] = (a, queries)
        out[layer + "post_attention_layernorm.weight"] = (a,)
        out[layer + "mlp.gate_proj.weight"] = (f, a)
        out[layer + "mlp.up_proj.weight"] = (f, a)
        out[layer + "mlp.down_proj.weight"] = (a, f)
    out["model.norm.weight"] = (a,)
    if not entries["tie_word_embeddings"]:
        out["lm_head.weight"] = (v, a)
    return out


def random_weight(rng, shape):
    """Random weights whose size keeps that of features from layer to layer. Weights of norms are around 1."""
    values = rng.standard_normal(shape, dtype=np.float32)
    return 1 + values / 10 if len(shape) == 1 else values / np.float32(np.sqrt(shape[1]))


def to_bfloat16(values):
    """The bits of float32 numbers, truncated to bfloat16."""
    return (values.view("<u4") >> 16).astype("<u2")


def from_bfloat16(bits):
    return (bits.astype("<u4") << 16).view("<f4")


def write(folder, entries, seed=1, dtype="F32", files=1):
    """Writes config.json and model.safetensors, or several files and their index. One weight is in memory at a time."""
    rng = np.random.default_rng(seed)
    (folder / "config.json").write_text(json.dumps(entries))
    size_of = 4 if dtype == "F32" else 2
    names = list(shapes(entries))
    parts = [names[n::files] for n in range(files)]
    paths = [f"model-{n + 1:05}-of-{files:05}.safetensors" for n in range(files)]
    if files == 1:
        paths = ["model.safetensors"]
    for path, part in zip(paths, parts):
        header, end = {"__metadata__": {"format": "pt"}}, 0
        for name in part:
            begin, end = end, end + size_of * int(np.prod(shapes(entries)[name]))
            header[name] = {"dtype": dtype, "shape": list(shapes(entries)[name]), "data_offsets": [begin, end]}
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(folder / path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for name in part:
                values = random_weight(rng, shapes(entries)[name])
                file.write((values if dtype == "F32" else to_bfloat16(values)).tobytes())
    if files > 1:
        places = {name: path for path, part in zip(paths, parts) for name in part}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))


class Checkpoint:
    """Reads weights one at a time: checkpoint["model.norm.weight"] is an array of float32."""

    def __init__(self, folder):
        self.entries = json.loads((folder / "config.json").read_text())
        self._places = {}
        for path in sorted(folder.glob("*.safetensors")):
            with open(path, "rb") as file:
                (size,) = struct.unpack("<Q", file.read(8))
                header = json.loads(file.read(size))
            header.pop("__metadata__", None)
            for name, entry in header.items():
                self._places[name] = (path, 8 + size + entry["data_offsets"][0], entry["dtype"], entry["shape"])

    def __getitem__(self, name):
        path, offset, dtype, shape = self._places[name]
        kind = {"F32": "<f4", "BF16": "<u2"}[dtype]
        values = np.fromfile(path, dtype=kind, count=int(np.prod(shape)), offset=offset)
        return (from_bfloat16(values) if dtype == "BF16" else values).reshape(shape)

    def mapped(self, name):
        """The weight, mapped from a checkpoint in F32, so that only used pages are read. It must not be changed."""
        path, offset, dtype, shape = self._places[name]
        assert dtype == "F32"
        return np.memmap(path, dtype="<f4", mode="c", offset=offset, shape=tuple(shape))
