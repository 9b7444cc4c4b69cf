EINSUM z[i] = fold[j](M[i,j] + V[j]) * longest(M[i,j]) + fold[](V[i])
