REPEAT 3 AS t { EINSUM Z[i t] = X[t,0] * t; UPDATE TENSOR V[i] = V[i] + t }
