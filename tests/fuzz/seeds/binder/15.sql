WITH P[i] = SUM(X[i,j]^2), GRADIENT OF L[] = SUM(P[i]) WITH RESPECT TO (X AS g, P) EINSUM (g, dP, L)
