WITH GRADIENT OF L = SUM(X[i,j]^2) WITH RESPECT TO (X) UPDATE TENSOR X[i,j] = X[i,j] - $2 * dX[i,j], V[i] = 0, s = L
