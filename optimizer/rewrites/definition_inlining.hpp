#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Writes definitions into the aggregates that read them, so that statements are planned alike however they are spelt:
///
///     WITH Y[i,k] = SUM(A[i,j] * B[j,k])    EINSUM Z[i,l] = SUM(Y[i,k] * C[k,l])
///     WITH Y[i,j,k] = A[i,j] * B[j,k]       EINSUM Z[i,l] = SUM(Y[i,j,k] * C[k,l])
///     EINSUM Z[i,l] = SUM(A[i,j] * B[j,k] * C[k,l])
///
/// A definition without an aggregate that joins operands is written into the one aggregate that reads it, or into each
/// that reads nothing else. One with an aggregate is, if it is read once, as a factor over which the same aggregate
/// distributes. What a statement orders itself stays as it is: steps of USING PATH and of parentheses in subscripts.
EinGraph inline_definitions(const EinGraph& graph);

}  // namespace eindb
