"""The statements whose bytes and times are measured, and their inputs. They are two matrix chains (A B) + (C (D E)),
multi-head attention, one training step of a classifier, and a layer of LLaMA."""

from dataclasses import dataclass

CHAIN = (
    "WITH AB[i,k] = SUM(A[i,j] * B[j,k]), DE[l,k] = SUM(D[l,m] * E[m,k]), "
    "CDE[i,k] = SUM(C[i,l] * DE[l,k]) EINSUM Z[i,k] = AB[i,k] + CDE[i,k]"
)
ATTENTION = (
    "WITH S[h,q,k] = SUM(Q[q,h,d] * K[k,h,d]) * 0.125, P[h,q,k] = softmax(S[h,q,k], k) "
    "EINSUM O[q,h,d] = SUM(P[h,q,k] * V[k,h,d])"
)
CLASSIFIER = (
    "WITH P[b,h] = SUM(X[b,i] * W1[i,h]), H[b,h] = RELU(P[b,h]), Q[b,l] = SUM(H[b,h] * W2[h,l]), "
    "D2[b,l] = SIGMOID(Q[b,l]) - T[b,l], B[b,h] = SUM(D2[b,l] * W2[h,l]), "
    "D1[b,h] = CASE WHEN P[b,h] > 0 THEN B[b,h] ELSE 0 END, G1[i,h] = SUM(X[b,i] * D1[b,h]) "
    "EINSUM U1[i,h] = W1[i,h] - 1e-3 * G1[i,h]"
)
# A layer of a transformer as LLaMA has them, for one sequence and without rotations.
LAYER = (
    "WITH N[s,a] = rmsnorm(X[s,a], a, 1e-5) * G1[a], Q[s,h,d] = SUM(N[s,a] * WQ[h,d,a]), "
    "K[s,h,d] = SUM(N[s,a] * WK[h,d,a]), V[s,h,d] = SUM(N[s,a] * WV[h,d,a]), "
    "T[h,s,t] = SUM(Q[s,h,d] * K[t,h,d]) * 0.125, "
    "P[h,s,t] = softmax(CASE WHEN t <= s THEN T[h,s,t] ELSE -INFINITY END, t), "
    "O[s,h,d] = SUM(P[h,s,t] * V[t,h,d]), A[s,a] = X[s,a] + SUM(O[s,h,d] * WO[a,h,d]), "
    "M[s,a] = rmsnorm(A[s,a], a, 1e-5) * G2[a], "
    "U[s,f] = silu(SUM(M[s,a] * WG[f,a])) * SUM(M[s,a] * WU[f,a]) "
    "EINSUM Y[s,a] = A[s,a] + SUM(U[s,f] * WD[a,f])"
)


@dataclass
class Statement:
    """A query, its inputs' extents by name, their type, and the strategies to compare EinDecomp's choice with."""

    name: str
    query: str
    inputs: dict
    dtype: str
    strategies: tuple

    def definitions(self):
        """The statements that create the inputs, with values in [-0.5, 0.5)."""
        for seed, (name, extents) in enumerate(self.inputs.items()):
            labels = ", ".join(f"d{n} {extent}" for n, extent in enumerate(extents))
            yield f"DROP TENSOR IF EXISTS {name}"
            yield f"CREATE TENSOR {name} {self.dtype} AS EINSUM {name}[{labels}] = RANDOM({seed}) - 0.5"


def chain_sizes(shape, scale):
    """M, K1, N, K2, K3: A is M x K1, B is K1 x N, C is M x K2, D is K2 x K3, E is K3 x N."""
    tenth = scale // 10
    return (scale,) * 5 if shape == "uniform" else (scale, tenth, scale, tenth, 10 * scale)


def chain_flops(sizes):
    m, k1, n, k2, k3 = sizes
    return 2.0 * (m * k1 * n + k2 * k3 * n + m * k2 * n)


def chain(shape, scale):
    m, k1, n, k2, k3 = chain_sizes(shape, scale)
    inputs = {"A": (m, k1), "B": (k1, n), "C": (m, k2), "D": (k2, k3), "E": (k3, n)}
    return Statement(f"{shape} chain s={scale}", CHAIN, inputs, "FLOAT64", ("sqrt", "data(i)", "megatron"))


def attention(tokens, heads, width=64):
    inputs = {name: (tokens, heads, width) for name in "QKV"}
    name = f"attention {tokens} x {heads} x {width}"
    return Statement(name, ATTENTION, inputs, "FLOAT32", ("sqrt", "data(q)", "megatron(h)"))


def classifier(batch, features, hidden, labels):
    inputs = {"X": (batch, features), "W1": (features, hidden), "W2": (hidden, labels), "T": (batch, labels)}
    name = f"classifier {batch} x {features} x {hidden} x {labels}"
    return Statement(name, CLASSIFIER, inputs, "FLOAT32", ("sqrt", "data(b)", "megatron"))


def layer(tokens, features=1024, heads=16, width=64, hidden=2816):
    projection = (heads, width, features)
    inputs = {"X": (tokens, features), "G1": (features,), "G2": (features,), "WQ": projection, "WK": projection}
    inputs |= {"WV": projection, "WO": (features, heads, width), "WG": (hidden, features), "WU": (hidden, features)}
    inputs |= {"WD": (features, hidden)}
    return Statement(f"layer of {tokens} tokens x {features}", LAYER, inputs, "FLOAT32", ())
