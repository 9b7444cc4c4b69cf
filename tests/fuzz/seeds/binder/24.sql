EINSUM 'ij,j->i' (X[:, 1:], V[::2])
