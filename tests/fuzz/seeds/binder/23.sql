EINSUM Z[i 3,j] = CUMSUM[j](X[i-1,j PAD -1.5]) + CUMMAX(Y[V[i],3])
