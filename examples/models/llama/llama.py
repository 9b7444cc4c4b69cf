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


def cache_shapes(config, batch, length):
    """The shapes of the keys and the values of one layer, for all positions of the sequences."""
    g, d = config.groups, config.head_features
    return {"keys": (("b", batch), ("t", length), ("h", g), ("z", 2), ("p", d // 2)),
            "values": (("b", batch), ("t", length), ("h", g), ("d", d))}


def choice(top, temperature, logits):
    """Definitions of the next token of each sequence, C[b], from the logits G[b,v] = `logits`: the likeliest one, or one of
    the `top` likeliest, by the number noise[b,i] of the position i that is asked."""
    if not top:
        return f"G[b,v] = {logits},\nC[b] = ARGMAX(G[b,v])"
    return (
        f"G[b,v] = {logits},\n"
        f"best[b,k {top}] = ARGTOPK[v,k](G[b,v]),\n"
        f"share[b,k {top}] = softmax(TOPK[v,k](G[b,v]) / {temperature}, k),\n"
        f"place[b] = CAST(LEAST(SUM[k](CUMSUM[k](share[b,k]) <= noise[b,position[]]), {top - 1}) AS INT64),\n"
        f"C[b] = best[b,place[b]]"
    )


def generate_script(config, tokens, count, top=0, temperature=1.0, seed=1):
    """Statements that continue each sequence by `count` tokens, in the tensor generated[b,i]. The prompt is one statement,
    which fills the cache of keys and values; every further token is a round of a loop."""
    batch, length = len(tokens), len(tokens[0])
    positions = length + count
    yield from prompt_script(config, tokens)
    yield "DROP TENSOR IF EXISTS generated"
    yield f"CREATE TENSOR generated (b {batch}, i {positions}) INT64"
    yield f"UPDATE TENSOR generated[b, 0:{length}] = prompt[b, :]"
    yield "CREATE OR REPLACE TENSOR position INT64 AS EINSUM position[] = " + str(length - 1)
    yield f"CREATE OR REPLACE TENSOR noise AS EINSUM noise[b {batch}, i {positions}] = RANDOM({seed})"
    angle = f"s * {config.theta} ^ (-p / {config.head_features // 2})"
    yield (
        f"CREATE OR REPLACE TENSOR turns FLOAT32 AS EINSUM R[s {positions}, p {config.head_features // 2}, z 2, y 2] = "
        f"CASE WHEN z = y THEN COS({angle}) ELSE (z - y) * SIN({angle}) END"
    )
    caches = cache_shapes(config, batch, positions)
    for layer in range(config.layers):
        for name, shape in caches.items():
            extents = ", ".join(f"{label} {extent}" for label, extent in shape)
            yield f'CREATE OR REPLACE TENSOR "{name}.{layer}" ({extents}) FLOAT32'

    # The prompt. Its keys and values go to the cache; the last position gives the first token.
    definitions = [numbered(fill("layer.sql", config, t), t) for t in range(config.layers)]
    definitions.append(numbered(fill("head.sql", config), config.layers))
    definitions.append(choice(top, temperature, f"L[b,{length - 1},v]"))
    updates = []
    for layer in range(config.layers):
        updates.append(f'"keys.{layer}"[b, 0:{length}, h, z, p] = K_{layer}[b,:,h,z,p]')
        updates.append(f'"values.{layer}"[b, 0:{length}, h, d] = V_{layer}[b,:,h,d]')
    updates += ["generated[b, position + 1] = C[b]", "position = position + 1"]
    yield "WITH\n" + ",\n\n".join(definitions) + "\nUPDATE TENSOR " + ",\n  ".join(updates)

    # The other tokens, one by one.
    definitions = [
        f'X_0[b,a] = "{EMBEDDING}"[generated[b,position[]],a]',
        "turn[p,z,y] = turns[position[],p,z,y]",
    ]
    definitions += [numbered(fill("layer_step.sql", config, t), t) for t in range(config.layers)]
    last = f"X_{config.layers}"
    definitions.append(f'F[b,a] = rmsnorm({last}[b,a], a, {config.epsilon}) * "model.norm.weight"[a]')
    definitions.append(choice(top, temperature, f'SUM[a](F[b,a] * "{config.output}"[v,a])'))
    updates = []
    for layer in range(config.layers):
        updates.append(f'"keys.{layer}"[b, position[], h, z, p] = K_{layer}[b,h,z,p]')
        updates.append(f'"values.{layer}"[b, position[], h, d] = V_{layer}[b,h,d]')
    updates += ["generated[b, position + 1] = C[b]", "position = position + 1"]
    yield "SET resume_loops = off"  # an interrupted loop may belong to another prompt
    step = "WITH\n" + ",\n\n".join(definitions) + "\nUPDATE TENSOR " + ",\n  ".join(updates)
    yield f"REPEAT {count - 1} AS token COMMIT EVERY {count} {{\n{step}\n}}"
