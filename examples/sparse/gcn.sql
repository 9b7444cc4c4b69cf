-- A graph convolutional network (Kipf and Welling): which community does a paper belong to, by its words and by what it cites?

-- Inputs: who cites whom, in both directions; the words of each paper; the community of a fifth of the papers, one-hot; weights.
COPY cites FROM 'cites.mtx';
COPY words FROM 'words.mtx';
COPY known FROM 'known.mtx';
COPY first1 FROM 'W1.npy';
COPY first2 FROM 'W2.npy';
COPY community FROM 'community.npy';

-- Computation. near averages over a paper and its neighbours.
CREATE OR REPLACE TENSOR itself AS EINSUM itself[i,i] = 1 + 0 * SUM[j](cites[i,j]);
CREATE OR REPLACE TENSOR near AS
WITH scale[i] = 1 / SQRT(1 + SUM(cites[i,j])) EINSUM near[i,j] = (cites[i,j] + itself[i,j]) * scale[i] * scale[j];
CREATE OR REPLACE TENSOR W1 AS EINSUM W1[w,h] = first1[w,h];
CREATE OR REPLACE TENSOR W2 AS EINSUM W2[h,c] = first2[h,c];
CREATE OR REPLACE TENSOR losses (t 30);
REPEAT 30 AS t COMMIT EVERY 30 {
  WITH H[i,h] = RELU(SUM(near[i,j] * words[j,w] * W1[w,h])),
       Q[i,c] = SUM(near[i,j] * H[j,h] * W2[h,c]),
       GRADIENT OF L[] = SUM(known[i,c] * (LOGSUMEXP[k](Q[i,k]) - Q[i,c])) / SUM(known[i,c]) WITH RESPECT TO (W1, W2)
  UPDATE TENSOR W1[w,h] -= 2 * dW1[w,h], W2[h,c] -= 2 * dW2[h,c], losses[t] = L;
};

-- Result: the loss at the beginning and at the end, and the share of the other papers that are told apart.
SELECT t AS step, ROUND(val, 4) AS loss FROM losses WHERE t IN (0, 29);
WITH H[i,h] = RELU(SUM(near[i,j] * words[j,w] * W1[w,h])),
     Q[i,c] = SUM(near[i,j] * H[j,h] * W2[h,c]),
     right[i] = ARGMAX[c](Q[i,c]) = community[i],
     asked[i] = SUM[c](known[i,c]) = 0
EINSUM accuracy[] = SUM(right[i] * asked[i]) / SUM(asked[i]);
