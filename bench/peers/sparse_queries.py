"""The statements of the cases with sparse cells, by workload."""

QUERIES = {
    "SpMV": "EINSUM Z[i] = SUM(S[i,j] * X[j])",
    "SpMM": "EINSUM Z[i,k] = SUM(S[i,j] * X[j,k])",
    "SpGEMM": "EINSUM Z[i,k] = SUM(S[i,j] * T[j,k])",
    "SDDMM": "EINSUM Z[i,j] = S[i,j] * SUM(A[i,k] * B[j,k])",
    "MTTKRP": "EINSUM Z[i,r] = SUM(T[i,j,k] * B[j,r] * C[k,r])",
    "triangles": "EINSUM Z[] = SUM(S[i,j] * S[j,k] * S[i,k])",
    "product": "EINSUM Z[i,j] = S[i,j] * T[i,j]",
    "sum": "EINSUM Z[i,j] = S[i,j] + T[i,j]",
    "total": "EINSUM Z[] = SUM(T[i,j,k])",
}
