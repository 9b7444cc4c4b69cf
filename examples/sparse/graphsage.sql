-- GraphSAGE with the mean as aggregator: the network of gcn.sql with weights of their own for a paper's neighbours.

-- Inputs: as those of gcn.sql, and V1 and V2 for the neighbours.
COPY cites FROM 'cites.mtx';
COPY words FROM 'words.mtx';
COPY known FROM 'known.mtx';
COPY first1 FROM 'W1.npy';
COPY first2 FROM 'W2.npy';
COPY around1 FROM 'V1.npy';
COPY around2 FROM 'V2.npy';
COPY community FROM 'community.npy';

-- Computation
CREATE OR REPLACE TENSOR mean AS
WITH degree[i] = SUM(cites[i,j]), share[i] = CASE WHEN degree[i] > 0 THEN 1 / degree[i] ELSE 0 END
EINSUM mean[i,j] = cites[i,j] * share[i];
CREATE OR REPLACE TENSOR W1 AS EINSUM W1[w,h] = first1[w,h];
CREATE OR REPLACE TENSOR V1 AS EINSUM V1[w,h] = around1[w,h];
CREATE OR REPLACE TENSOR W2 AS EINSUM W2[h,c] = first2[h,c];
CREATE OR REPLACE TENSOR V2 AS EINSUM V2[h,c] = around2[h,c];
CREATE OR REPLACE TENSOR losses (t 30);
REPEAT 30 AS t COMMIT EVERY 30 {
  WITH H[i,h] = RELU(SUM(words[i,w] * W1[w,h]) + SUM(mean[i,j] * words[j,w] * V1[w,h])),
       Q[i,c] = SUM(H[i,h] * W2[h,c]) + SUM(mean[i,j] * H[j,h] * V2[h,c]),
       GRADIENT OF L[] = SUM(known[i,c] * (LOGSUMEXP[k](Q[i,k]) - Q[i,c])) / SUM(known[i,c])
         WITH RESPECT TO (W1, V1, W2, V2)
  UPDATE TENSOR W1[w,h] -= 2 * dW1[w,h], V1[w,h] -= 2 * dV1[w,h], W2[h,c] -= 2 * dW2[h,c], V2[h,c] -= 2 * dV2[h,c],
    losses[t] = L;
};

-- Result: as that of gcn.sql.
SELECT t AS step, ROUND(val, 4) AS loss FROM losses WHERE t IN (0, 29);
WITH H[i,h] = RELU(SUM(words[i,w] * W1[w,h]) + SUM(mean[i,j] * words[j,w] * V1[w,h])),
     Q[i,c] = SUM(H[i,h] * W2[h,c]) + SUM(mean[i,j] * H[j,h] * V2[h,c]),
     right[i] = ARGMAX[c](Q[i,c]) = community[i],
     asked[i] = SUM[c](known[i,c]) = 0
EINSUM accuracy[] = SUM(right[i] * asked[i]) / SUM(asked[i]);
