-- Multi-head attention: 512 tokens, model width 512, 8 heads of 64, FLOAT32. Run where the .npy files are.

.print 1. Import seven .npy files that NumPy wrote.
COPY Q FROM 'Q.npy';
COPY K FROM 'K.npy';
COPY V FROM 'V.npy';
COPY WQ FROM 'WQ.npy';
COPY WK FROM 'WK.npy';
COPY WV FROM 'WV.npy';
COPY WO FROM 'WO.npy';

.print 2. What eindb is going to do: a partition vector for every operation, with its cost, then operators on tiles.
EXPLAIN
WITH QH[s,h,d] = SUM(Q[s,a] * WQ[a,h,d]),
     KH[s,h,d] = SUM(K[s,a] * WK[a,h,d]),
     VH[s,h,d] = SUM(V[s,a] * WV[a,h,d]),
     T1[h,s,t] = SUM(QH[s,h,d] * KH[t,h,d]),
     T2[h,s,t] = T1[h,s,t] / SQRT(64),
     C[h,s]    = MAX(T2[h,s,t]),
     E[h,s,t]  = EXP(T2[h,s,t] - C[h,s]),
     D[h,s]    = SUM(E[h,s,t]),
     T3[h,s,t] = E[h,s,t] / D[h,s],
     O[s,h,d]  = SUM(T3[h,s,t] * VH[t,h,d])
EINSUM Y[s,a] = SUM(O[s,h,d] * WO[a,h,d]);

.print 3. The same, run and measured.
EXPLAIN ANALYZE
WITH QH[s,h,d] = SUM(Q[s,a] * WQ[a,h,d]),
     KH[s,h,d] = SUM(K[s,a] * WK[a,h,d]),
     VH[s,h,d] = SUM(V[s,a] * WV[a,h,d]),
     T1[h,s,t] = SUM(QH[s,h,d] * KH[t,h,d]),
     T2[h,s,t] = T1[h,s,t] / SQRT(64),
     C[h,s]    = MAX(T2[h,s,t]),
     E[h,s,t]  = EXP(T2[h,s,t] - C[h,s]),
     D[h,s]    = SUM(E[h,s,t]),
     T3[h,s,t] = E[h,s,t] / D[h,s],
     O[s,h,d]  = SUM(T3[h,s,t] * VH[t,h,d])
EINSUM Y[s,a] = SUM(O[s,h,d] * WO[a,h,d]);

.print 4. The result, stored as a tensor and written for NumPy.
CREATE TENSOR Y AS
WITH QH[s,h,d] = SUM(Q[s,a] * WQ[a,h,d]),
     KH[s,h,d] = SUM(K[s,a] * WK[a,h,d]),
     VH[s,h,d] = SUM(V[s,a] * WV[a,h,d]),
     T1[h,s,t] = SUM(QH[s,h,d] * KH[t,h,d]),
     T2[h,s,t] = T1[h,s,t] / SQRT(64),
     C[h,s]    = MAX(T2[h,s,t]),
     E[h,s,t]  = EXP(T2[h,s,t] - C[h,s]),
     D[h,s]    = SUM(E[h,s,t]),
     T3[h,s,t] = E[h,s,t] / D[h,s],
     O[s,h,d]  = SUM(T3[h,s,t] * VH[t,h,d])
EINSUM Y[s,a] = SUM(O[s,h,d] * WO[a,h,d]);
COPY Y TO 'Y.npy';
