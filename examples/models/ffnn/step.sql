-- One step of gradient descent of a feed-forward classifier: an input goes to hidden units, these to a score per label.
-- train.py fills in ${rate}; n is the batch, the variable of the loop that this stands in.
--
--   b    an input of the batch        h    a hidden unit
--   i    a feature of the inputs      l    a label
--
-- X[n,b,i] are the inputs, mostly zeros; T[n,b,l] says how much each label is wanted, 1 in all. The loss is the
-- cross-entropy of the scores' softmax, in the form that does not overflow.
WITH P[b,h] = SUM(X[n,b,i] * W1[i,h]),
     H[b,h] = RELU(P[b,h]),
     Q[b,l] = SUM(H[b,h] * W2[h,l]),
     GRADIENT OF L[] = MEAN[b](LOGSUMEXP[l](Q[b,l]) - SUM[l](T[n,b,l] * Q[b,l])) WITH RESPECT TO (W1, W2)
UPDATE TENSOR W1[i,h] = W1[i,h] - ${rate} * dW1[i,h],
              W2[h,l] = W2[h,l] - ${rate} * dW2[h,l],
              losses[m] = CASE WHEN m = n THEN L ELSE losses[m] END
