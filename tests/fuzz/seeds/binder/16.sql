GRADIENT OF L[] = SUM(X[i,j] * Y[j,k] * Y[j,k]) WITH RESPECT TO (X, Y) USING PATH ((1,2),(0,1))
