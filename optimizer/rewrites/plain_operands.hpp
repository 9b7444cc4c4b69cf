#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Computes functions of one operand before a join that has many more cells, where the kernels of matrices can then
/// compute the rest:
///
///     Z[i,k] = SUM(ABS(X[i,j]) * Y[j,k])   becomes   Z.1[i,j] = ABS(X[i,j]), Z[i,k] = SUM(Z.1[i,j] * Y[j,k])
///
/// and likewise for every pair of tensor/algebra, as MAX(2 * X[i,j] + Y[j,k]). Counts of cells where conditions hold
/// are computed in the fastest type that holds them exactly. Comes after contractions are ordered; vertices have at
/// most two inputs before and after.
EinGraph make_operands_plain(const EinGraph& graph);

}  // namespace eindb
