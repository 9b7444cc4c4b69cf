#pragma once

#include <optional>

#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

/// SUM of a sum: each group of terms is summed over its own labels, and counts once per cell of the other labels.
///
///     Z[] = SUM(X[i] + Y[j])   becomes   Z.1[] = SUM(X[i]), Z.2[] = SUM(Y[j]), Z[] = n_j * Z.1 + n_i * Z.2
///
/// Where a sum over more than two operands has terms that join some of them, each of these becomes a contraction:
///
///     Z[] = SUM(A[i,j] * B[j,k] + C[i,k] * D[k])   becomes   Z.1[] = SUM(A[i,j] * B[j,k]), Z.2[] = SUM(C[i,k] * D[k]),
///     ...
///
/// Constant factors around the sum are distributed. Returns nullopt and does nothing if the vertex is no such sum,
/// aggregates over no cell, would gain nothing, or is complex: n times an infinity contains a NaN there.
std::optional<VertexId> sum_terms_apart(VertexSplitter& splitter);

/// The same for PROD of an INT64 product: PROD(X[i] * Y[j]) = PROD(X[i]) ^ n_j * PROD(Y[j]) ^ n_i, which is exact
/// modulo 2^64. In floating point, partial products may overflow where the whole does not, so they stay.
std::optional<VertexId> multiply_factors_apart(VertexSplitter& splitter);

/// PROD of powers by a constant integer, of reciprocals and of absolute values is that function of the PROD:
///
///     Z[i] = PROD(X[i,j] ^ 3)   becomes   Z.1[i] = PROD(X[i,j]), Z[i] = Z.1 ^ 3
///
/// It is computed once per cell of the head. Returns nullopt and does nothing for other functions.
std::optional<VertexId> take_powers_last(VertexSplitter& splitter);

}  // namespace eindb
