-- One layer of LLaMA, as the definitions of a WITH: from X, the stream of features that the layer reads, to Y, the one
-- that the next layer reads.
--
-- ${layer} is the number of the layer and ${epsilon} the constant of the norms; prefill.py fills both in. Weights are stored
-- under the names of published checkpoints, as (out, in); where "out" or "in" are heads, they are several dimensions:
--   b    sequences of the batch            h    groups of heads that share keys and values
--   s    positions that ask                r    heads of a group
--   t    positions that are asked          d    features of a head; in queries and keys z and p,
--   a    features of the stream                 as rotations turn feature p of both halves z together
--   f    features of the feed-forward part

-- What attention reads: the stream, each position scaled to a root mean square of 1.
N[b,s,a] = rmsnorm(X[b,s,a], a, ${epsilon}) * "model.layers.${layer}.input_layernorm.weight"[a],

-- Queries, keys and values.
QP[b,s,h,r,z,p] = SUM(N[b,s,a] * "model.layers.${layer}.self_attn.q_proj.weight"[h,r,z,p,a]),
KP[b,s,h,z,p]   = SUM(N[b,s,a] * "model.layers.${layer}.self_attn.k_proj.weight"[h,z,p,a]),
V[b,s,h,d]      = SUM(N[b,s,a] * "model.layers.${layer}.self_attn.v_proj.weight"[h,d,a]),

-- Rotary embedding: at position s the pair (first half, second half) of feature p turns by an angle that grows with s.
Q[b,s,h,r,z,p] = SUM(QP[b,s,h,r,y,p] * rotation[s,p,z,y]),
K[b,s,h,z,p]   = SUM(KP[b,s,h,y,p] * rotation[s,p,z,y]),

-- Causal attention: how much each position takes from those before it and from itself.
T[b,h,r,s,t] = SUM(Q[b,s,h,r,z,p] * K[b,t,h,z,p]) / SQRT(${head_features}),
P[b,h,r,s,t] = softmax(CASE WHEN t <= s THEN T[b,h,r,s,t] ELSE -INFINITY END, t),
O[b,s,h,r,d] = SUM(P[b,h,r,s,t] * V[b,t,h,d]),
A[b,s,a]     = X[b,s,a] + SUM(O[b,s,h,r,d] * "model.layers.${layer}.self_attn.o_proj.weight"[a,h,r,d]),

-- The feed-forward part, SwiGLU.
M[b,s,a] = rmsnorm(A[b,s,a], a, ${epsilon}) * "model.layers.${layer}.post_attention_layernorm.weight"[a],
U[b,s,f] = silu(SUM(M[b,s,a] * "model.layers.${layer}.mlp.gate_proj.weight"[f,a]))
         * SUM(M[b,s,a] * "model.layers.${layer}.mlp.up_proj.weight"[f,a]),
Y[b,s,a] = A[b,s,a] + SUM(U[b,s,f] * "model.layers.${layer}.mlp.down_proj.weight"[a,f])
