"""Generates the statements of a prefill from a config, layer.sql and head.sql. Needs only Python's standard library."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

HERE = Path(__file__).parent
EMBEDDING = "model.embed_tokens.weight"
OUTPUT = "lm_head.weight"


class ConfigError(Exception):
    """The config.json belongs to a model that the statements do not describe."""


@dataclass(frozen=True)
class Config:
    """The parameters of the architecture from config.json, under the names that are used there if these are clear."""

    layers: int
    features: int
    heads: int
    groups: int  # groups of heads that share keys and values
    head_features: int
    feed_forward: int
    vocabulary: int
    epsilon: float
    theta: float  # the base of the rotations' wavelengths
    tied: bool  # whether the embedding is also the output matrix

    @staticmethod
    def read(folder):
        return Config.of(json.loads((Path(folder) / "config.json").read_text()))

    @staticmethod
    def of(entries):
        check_architecture(entries)
        heads = entries["num_attention_heads"]
        features = entries["hidden_size"]
        return Config(
            layers=entries["num_hidden_layers"],
            features=features,
            heads=heads,
            groups=entries.get("num_key_value_heads") or heads,
            head_features=entries.get("head_dim") or features // heads,
            feed_forward=entries["intermediate_size"],
            vocabulary=entries["vocab_size"],
            epsilon=entries.get("rms_norm_eps", 1e-6),
            theta=entries.get("rope_theta", 10000.0),
            tied=entries.get("tie_word_embeddings", False),
        )

    @property
    def output(self):
        return EMBEDDING if self.tied else OUTPUT


def check_architecture(entries):
    """Raises ConfigError for an architecture without statements."""
    if entries.get("hidden_act", "silu") != "silu":
        raise ConfigError(f"hidden_act is {entries['hidden_act']}, not silu")
    for name in ("rope_scaling", "attention_bias", "mlp_bias"):
        if entries.get(name):
            raise ConfigError(f"{name} is {entries[name]}: there are no statements for it")
    if entries["num_attention_heads"] % (entries.get("num_key_value_heads") or entries["num_attention_heads"]):
        raise ConfigError("num_attention_heads is no multiple of num_key_value_heads")


def layer_weights(config):
    """The shapes in which layer.sql reads the weights of one layer, by their names without the suffix .weight."""
    a, f, d = config.features, config.feed_forward, config.head_features
    g, r = config.groups, config.heads // config.groups
    return {
        "input_layernorm": (a,),
        "self_attn.q_proj": (g, r, 2, d // 2, a),
        "self_attn.k_proj": (g, 2, d // 2, a),
        "self_attn.v_proj": (g, d, a),
        "self_attn.o_proj": (a, g, r, d),
        "post_attention_layernorm": (a,),
        "mlp.gate_proj": (f, a),
        "mlp.up_proj": (f, a),
        "mlp.down_proj": (a, f),
    }


def weights(config):
    """The shape of every weight of the model, by name."""
    out = {EMBEDDING: (config.vocabulary, config.features)}
    for t in range(config.layers):
        for name, shape in layer_weights(config).items():
            out[f"model.layers.{t}.{name}.weight"] = shape
    out["model.norm.weight"] = (config.features,)
    if not config.tied:
        out[OUTPUT] = (config.vocabulary, config.features)
    return out


def checkpoint_files(folder):
    """A function that returns the file of a weight. A checkpoint of several files has an index."""
    folder = Path(folder)
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return lambda name: folder / "model.safetensors"
    files = json.loads(index.read_text())["weight_map"]
    return lambda name: folder / files[name]


def text(path):
    return str(path).replace("'", "''")


def load_script(config, folder):
    """A COPY for every weight. It reads the (out, in) matrix of the file in the shape that layer.sql expects."""
    file_of = checkpoint_files(folder)
    for name, shape in weights(config).items():
        extents = ",".join(map(str, shape))
        yield f"COPY \"{name}\" FROM '{text(file_of(name))}' (TENSOR '{name}', SHAPE '{extents}')"


def prompt_script(config, tokens):
    """Statements that create the tensors for a prompt: X_0, its embedded tokens, and the rotation of each position."""
    rows = ",".join(f"({b},{s},{token})" for b, sequence in enumerate(tokens) for s, token in enumerate(sequence))
    length, pairs = len(tokens[0]), config.head_features // 2
    yield "DROP TENSOR IF EXISTS prompt"
    yield f"CREATE TENSOR prompt (b {len(tokens)}, s {length}) INT64"
    yield f"INSERT INTO TENSOR prompt VALUES {rows}"
    yield "DROP TENSOR IF EXISTS X_0"
    yield f'CREATE TENSOR X_0 FLOAT32 AS EINSUM X[b,s,a] = "{EMBEDDING}"[prompt[b,s],a]'
    yield "DROP TENSOR IF EXISTS rotation"
    angle = f"s * {config.theta} ^ (-p / {pairs})"
    yield (
        f"CREATE TENSOR rotation FLOAT32 AS EINSUM R[s {length}, p {pairs}, z 2, y 2] = "
        f"CASE WHEN z = y THEN COS({angle}) ELSE (z - y) * SIN({angle}) END"
    )


def fill(name, config, layer="${layer}"):
    values = {"epsilon": config.epsilon, "head_features": config.head_features, "output": config.output}
    return Template((HERE / name).read_text()).substitute(values, layer=layer).rstrip()


def numbered(definitions, layer):
    """The definitions of a layer, with its number in their names. Layer 3 reads X_3, and its Y is X_4."""
    names = {name: f"{name}_{layer}" for name in re.findall(r"^(\w+)\[", definitions, re.M)}
    names |= {"X": f"X_{layer}", "Y": f"X_{layer + 1}", "L": "L"}
    return re.sub(r"\b(\w+)\[", lambda found: names.get(found[1], found[1]) + "[", definitions)


def query(config, head="EINSUM Z[b,s,v] = L[b,s,v]"):
    """The whole model as one statement, from X_0 to the query `head` on the logits L[b,s,v]."""
    layers = [numbered(fill("layer.sql", config, t), t) for t in range(config.layers)]
    last = numbered(fill("head.sql", config), config.layers)
    return "WITH\n" + ",\n\n".join([*layers, last]) + "\n" + head


def layer_script(config, head="EINSUM Z[b,s,v] = L[b,s,v]"):
    """The same as a loop over layers. Each layer stores the input of the next one. The last statement is a query."""
    yield "CREATE OR REPLACE TENSOR X AS EINSUM X[b,s,a] = X_0[b,s,a]"
    yield "SET resume_loops = off"  # an interrupted loop may belong to another prompt
    yield (
        f"REPEAT {config.layers} AS layer COMMIT EVERY {config.layers} {{\n"
        f"CREATE OR REPLACE TENSOR X AS WITH\n{fill('layer.sql', config)}\nEINSUM Z[b,s,a] = Y[b,s,a]\n}}"
    )
    yield f"WITH\n{fill('head.sql', config)}\n{head}"
