CREATE TENSOR (Q, R) AS WITH Q[i] = X[i,0], R = SUM(Q[i]) EINSUM (X, R)
