#pragma once

#include <optional>

#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

/// SUM of a sum: each group of terms is summed over its own labels and counts once for every cell of the others.
///
///     Z[] = SUM(X[i] + Y[j])   becomes   Z.1[] = SUM(X[i]), Z.2[] = SUM(Y[j]), Z[] = n_j * Z.1 + n_i * Z.2
///
/// Constant factors around the sum are distributed. nullopt, and nothing done, if the vertex is no such sum, aggregates
/// over no cell, or would not have fewer cells to visit; nor of complex numbers, where n times an infinity has a NaN in
/// it.
std::optional<VertexId> sum_terms_apart(VertexSplitter& splitter);

/// PROD of an INT64 product, likewise: PROD(X[i] * Y[j]) = PROD(X[i]) ^ n_j * PROD(Y[j]) ^ n_i, which is exact modulo
/// 2^64. In floating point, partial products overflow where the whole does not, so those stay.
std::optional<VertexId> multiply_factors_apart(VertexSplitter& splitter);

}  // namespace eindb
