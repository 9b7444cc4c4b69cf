-- What stands after the last layer, as the definitions of a WITH: from X to the logits L of the next token, at each
-- position. v is a token of the vocabulary; prefill.py fills in ${epsilon} and the name of the output weights.
F[b,s,a] = rmsnorm(X[b,s,a], a, ${epsilon}) * "model.norm.weight"[a],
L[b,s,v] = SUM(F[b,s,a] * "${output}"[v,a])
