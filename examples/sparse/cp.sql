-- CP decomposition of a tensor of three dimensions: a sum of 4 outer products, by alternating least squares.

-- Inputs: who visited which place in which hour; factors to start from.
COPY visits FROM 'visits.tns';
COPY start1 FROM 'start1.npy';
COPY start2 FROM 'start2.npy';

-- Computation. The products of the tensor with two factors (MTTKRP) visit its cells alone.
CREATE OR REPLACE TENSOR B AS EINSUM B[j,r] = start1[j,r];
CREATE OR REPLACE TENSOR C AS EINSUM C[k,r] = start2[k,r];
CREATE OR REPLACE TENSOR A AS EINSUM A[i,r] = 0 * SUM[j,k](visits[i,j,k]) + 0 * SUM[j](B[j,r]);
REPEAT 10 COMMIT EVERY 10 {
  WITH M[r,i] = SUM(visits[i,j,k] * B[j,r] * C[k,r]), G[r,s] = SUM[j](B[j,r] * B[j,s]) * SUM[k](C[k,r] * C[k,s]),
       X[s,i] = SOLVE(G[r,s], M[r,i])
  UPDATE TENSOR A[i,r] = X[r,i];
  WITH M[r,j] = SUM(visits[i,j,k] * A[i,r] * C[k,r]), G[r,s] = SUM[i](A[i,r] * A[i,s]) * SUM[k](C[k,r] * C[k,s]),
       X[s,j] = SOLVE(G[r,s], M[r,j])
  UPDATE TENSOR B[j,r] = X[r,j];
  WITH M[r,k] = SUM(visits[i,j,k] * A[i,r] * B[j,r]), G[r,s] = SUM[i](A[i,r] * A[i,s]) * SUM[j](B[j,r] * B[j,s]),
       X[s,k] = SOLVE(G[r,s], M[r,k])
  UPDATE TENSOR C[k,r] = X[r,k];
};
CREATE OR REPLACE TENSOR fit AS
WITH norm[] = SUM(visits[i,j,k] ^ 2),
     both[] = SUM(visits[i,j,k] * A[i,r] * B[j,r] * C[k,r]),
     model[] = SUM[r,s](SUM[i](A[i,r] * A[i,s]) * SUM[j](B[j,r] * B[j,s]) * SUM[k](C[k,r] * C[k,s]))
EINSUM fit[] = 1 - SQRT(GREATEST(norm - 2 * both + model, 0) / norm);

-- Result: 1 is a perfect fit.
EINSUM rounded[] = ROUND(1000 * fit) / 1000;
