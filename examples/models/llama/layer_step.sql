-- One layer of LLaMA for a single position, whose number is the tensor `position`: from X to Y as in layer.sql, which has the
-- letters. Keys and values of the positions before it are in the cache, "keys.${layer}" and "values.${layer}"; its own, K and
-- V, are put there by the statement that has these definitions.
N[b,a] = rmsnorm(X[b,a], a, ${epsilon}) * "model.layers.${layer}.input_layernorm.weight"[a],

QP[b,h,r,z,p] = SUM(N[b,a] * "model.layers.${layer}.self_attn.q_proj.weight"[h,r,z,p,a]),
KP[b,h,z,p]   = SUM(N[b,a] * "model.layers.${layer}.self_attn.k_proj.weight"[h,z,p,a]),
V[b,h,d]      = SUM(N[b,a] * "model.layers.${layer}.self_attn.v_proj.weight"[h,d,a]),

Q[b,h,r,z,p] = SUM(QP[b,h,r,y,p] * turn[p,z,y]),
K[b,h,z,p]   = SUM(KP[b,h,y,p] * turn[p,z,y]),

-- Attention to the cache, and to the position itself.
T[b,h,r,t] = CASE WHEN t < position THEN SUM[z,p](Q[b,h,r,z,p] * "keys.${layer}"[b,t,h,z,p])
                  WHEN t = position THEN SUM[z,p](Q[b,h,r,z,p] * K[b,h,z,p])
                  ELSE -INFINITY END / SQRT(${head_features}),
P[b,h,r,t] = softmax(T[b,h,r,t], t),
O[b,h,r,d] = SUM[t](P[b,h,r,t] * "values.${layer}"[b,t,h,d]) + SUM[t](CASE WHEN t = position THEN P[b,h,r,t] ELSE 0 END) * V[b,h,d],
A[b,a]     = X[b,a] + SUM(O[b,h,r,d] * "model.layers.${layer}.self_attn.o_proj.weight"[a,h,r,d]),

M[b,a] = rmsnorm(A[b,a], a, ${epsilon}) * "model.layers.${layer}.post_attention_layernorm.weight"[a],
U[b,f] = silu(SUM(M[b,a] * "model.layers.${layer}.mlp.gate_proj.weight"[f,a]))
       * SUM(M[b,a] * "model.layers.${layer}.mlp.up_proj.weight"[f,a]),
Y[b,a] = A[b,a] + SUM(U[b,f] * "model.layers.${layer}.mlp.down_proj.weight"[a,f])
