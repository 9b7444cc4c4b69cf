WITH P[b] = SUM(X[b,i] * W[i]), GRADIENT OF L[] = SUM(P[b]^2) WITH RESPECT TO (W AS dW, X) UPDATE TENSOR W[i] = W[i] - $1 * dW[i], s = L;
