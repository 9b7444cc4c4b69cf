#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Computes element-wise vertices inside the kernel of their reader, so that their results are neither written nor
/// read:
///
///     A[i,j] = X[i,j] * 2, B[i,j] = A[i,j] + Y[j], Z[i] = MAX(B[i,j])     becomes     Z[i] = MAX(X[i,j] * 2 + Y[j])
///
/// A vertex is merged into its only reader, which reads it once, if
/// - the reader then has at most two different operands;
/// - no element is computed more often than before: the reader visits no more cells than the vertex has. So the
///   operands of matrix products are still computed beforehand, as in SUM(EXP(X[i,j]) * Y[j,k]), and the product keeps
///   its fast kernel;
/// - it computes in the reader's type and stores that type, so that rounding does not change;
/// - the expression stays of moderate size.
///
/// A function of one aggregated value becomes the epilogue of the aggregation, if nothing else reads the value: the
/// matrix product of Z[i,k] = RELU(SUM(X[i,j] * Y[j,k])) keeps its kernel, and RELU is applied to each finished tile.
///
/// Plain copies (transpositions, diagonals, broadcasts) are not materialised: their readers read the original. A vertex
/// that only copies its input, and is its only reader, computes the input's expression instead, under its own name,
/// head and type.
EinGraph fuse_elementwise(const EinGraph& graph);

}  // namespace eindb
