"""The statements whose times are kept from one version to the next: one or two of each kind of work, some milliseconds to some
tenths of a second each."""


class Case:
    """A query over tensors that `setup` makes. The time is that of the query's run, or of its planning."""

    def __init__(self, name, query, *setup, plans=False):
        self.name, self.query, self.setup, self.plans = name, query, setup, plans


def noise(name, labels, dtype="FLOAT32"):
    """Values in [-1, 1] without a pattern that a plan could use."""
    indices = [part.split()[0] for part in labels.split(",")]
    terms = " + ".join(f"{31 * n + 17} * {index}" for n, index in enumerate(indices))
    return f"CREATE TENSOR {name} AS EINSUM {name}[{labels}] = CAST(SIN({terms}) AS {dtype})"


def cells(name, rows, columns, share):
    """A cell in each `share`-th place or so."""
    return (f"CREATE TENSOR {name} AS EINSUM {name}[i {rows}, j {columns}] = "
            f"CASE WHEN MOD(i * 7919 + j * 104729, {share}) = 0 THEN 1.0 + MOD(i + j, 7) ELSE 0.0 END")  # fmt: skip


def network(count):
    """A ring of matrices with a chord from each to the one three further on."""
    factors = [f"T{n}[a{n},a{(n + 1) % count},c{n},c{(n + 3) % count}]" for n in range(count)]
    setup = [noise(f"T{n}", f"p 2, q 2, r 2, s 2", "FLOAT64") for n in range(count)]
    return Case(f"planning a network of {count} tensors", f"EINSUM Z[] = SUM({' * '.join(factors)})", *setup, plans=True)


CASES = [
    Case("chain of three, FLOAT32", "EINSUM Z[i,l] = SUM(A[i,j] * B[j,k] * C[k,l])",
         noise("A", "i 1200, j 1200"), noise("B", "j 1200, k 1200"), noise("C", "k 1200, l 1200")),
    Case("product, FLOAT64", "EINSUM Z[i,k] = SUM(A[i,j] * B[j,k])",
         noise("A", "i 1024, j 1024", "FLOAT64"), noise("B", "j 1024, k 1024", "FLOAT64")),
    Case("tensor times tensor, aebf,fdec->abcd", "EINSUM Z[a,b,c,d] = SUM(X[a,e,b,f] * Y[f,d,e,c])",
         noise("X", "a 40, e 40, b 40, f 40"), noise("Y", "f 40, d 40, e 40, c 40")),
    Case("tensor times matrix, efbad,cf->abcde", "EINSUM Z[a,b,c,d,e] = SUM(X[e,f,b,a,d] * Y[c,f])",
         noise("X", "e 24, f 24, b 24, a 24, d 24"), noise("Y", "c 24, f 24")),
    Case("matrix times vector", "EINSUM y[i] = SUM(A[i,j] * x[j])", noise("A", "i 4096, j 4096"), noise("x", "j 4096")),
    Case("elementwise and sum", "EINSUM s[i] = SUM[j](EXP(A[i,j]) * B[i,j])",
         noise("A", "i 2048, j 2048"), noise("B", "i 2048, j 2048")),
    Case("softmax of rows", "EINSUM Z[i,j] = softmax(A[i,j], j)", noise("A", "i 2048, j 2048")),
    Case("attention", "WITH S[h,i,j] = SUM[d](Q[h,i,d] * K[h,j,d]) / 8, P[h,i,j] = softmax(S[h,i,j], j) "
         "EINSUM Z[h,i,d] = SUM[j](P[h,i,j] * V[h,j,d])",
         noise("Q", "h 8, i 512, d 64"), noise("K", "h 8, j 512, d 64"), noise("V", "h 8, j 512, d 64")),
    Case("shortest paths, MIN of sums", "EINSUM Z[i,k] = MIN(A[i,j] + B[j,k])",
         noise("A", "i 512, j 512"), noise("B", "j 512, k 512")),
    Case("3 x 3 convolution", "EINSUM Z[b,o,y 56,x 56] = SUM(X[b,c,y+p-1,x+q-1 PAD 0] * W[o,c,p,q])",
         noise("X", "b 2, c 64, y 56, x 56"), noise("W", "o 64, c 64, p 3, q 3")),
    Case("gather of rows", "EINSUM Z[s,d] = X[I[s],d]", noise("X", "v 16000, d 512"),
         "CREATE TENSOR I AS EINSUM I[s 4096] = CAST(MOD(s * 7919, 16000) AS INT64)"),
    Case("singular values and vectors", "WITH (U, s, V) = SVD(A[i,j]) EINSUM Z[i,j] = SUM[k](U[i,k] * s[k] * V[j,k])",
         noise("A", "i 256, j 256", "FLOAT64")),
    Case("cells times vector", "EINSUM y[i] = SUM(C[i,j] * x[j])", cells("C", 20000, 20000, 997), noise("x", "j 20000", "FLOAT64")),
    Case("cells times cells", "EINSUM Z[i,k] = SUM(C[i,j] * C[j,k])", cells("C", 4000, 4000, 997)),
    Case("three 8 x 8 matrices", "EINSUM Z[i,l] = SUM(A[i,j] * B[j,k] * C[k,l])",
         noise("A", "i 8, j 8"), noise("B", "j 8, k 8"), noise("C", "k 8, l 8")),
    network(24),
]  # fmt: skip
