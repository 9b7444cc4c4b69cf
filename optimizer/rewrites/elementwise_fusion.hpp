#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Computes element-wise vertices inside the kernel of the vertex that reads them, so that their results are neither
/// written nor read:
///
///     A[i,j] = X[i,j] * 2, B[i,j] = A[i,j] + Y[j], Z[i] = MAX(B[i,j])     becomes     Z[i] = MAX(X[i,j] * 2 + Y[j])
///
/// A vertex goes into its only reader, which reads it once, if
/// - the reader then has at most two different operands;
/// - no element is computed more often than before: the reader visits no more cells than the vertex has. So what
///   matrix products read stays computed beforehand, as in SUM(EXP(X[i,j]) * Y[j,k]), and they keep their fast kernel;
/// - it computes in the reader's type and stores what it computes, so that nothing is rounded otherwise;
/// - the expression stays of moderate size.
///
/// A function of one aggregated value becomes the epilogue of its aggregation, if nothing else reads that: the matrix
/// product of Z[i,k] = RELU(SUM(X[i,j] * Y[j,k])) keeps its kernel, and RELU is taken of each finished tile.
///
/// A mere copy (a transposition, a diagonal, a broadcast) is never made: all its readers read the original. And a
/// vertex that only copies what it alone reads computes that instead, under its own name, head and type.
EinGraph fuse_elementwise(const EinGraph& graph);

}  // namespace eindb
