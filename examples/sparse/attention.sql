-- Attention in which blocks of positions look at a few other blocks: nothing is computed for the others.

-- Inputs: looks[a,b] is 1 where block a looks at block b; queries, keys and values of position s of block a.
COPY looks FROM 'looks.mtx';
COPY Q FROM 'Q.npy';
COPY K FROM 'K.npy';
COPY V FROM 'V.npy';

-- Computation. Scores of blocks that do not look at each other are cells that are not there, and zeros to what reads them: a score
-- that is 0 by itself would count as masked. The greatest one is at least 0 then, which softmax does not mind.
CREATE OR REPLACE TENSOR Y AS
WITH scaled[a,s,d] = Q[a,s,d] / SQRT(COUNT[e](Q[0,0,e])),
     T[a,s,b,t] = looks[a,b] * SUM[d](scaled[a,s,d] * K[b,t,d]),
     M[a,s] = MAX[b,t](T[a,s,b,t]),
     E[a,s,b,t] = CASE WHEN T[a,s,b,t] <> 0 THEN EXP(T[a,s,b,t] - M[a,s]) ELSE 0 END
EINSUM Y[a,s,d] = SUM[b,t](E[a,s,b,t] * V[b,t,d]) / SUM[b,t](E[a,s,b,t]);

-- Result: the first position.
SELECT d, ROUND(val, 4) AS val FROM Y WHERE a = 0 AND s = 0 AND d < 3;
