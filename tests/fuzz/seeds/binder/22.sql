EINSUM Z[i] = SUM[k 2](V[i+k] * V[2-k]) + Y[V[i] % 3, 2*i - 1 PAD REFLECT]
