#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of a scalar by reverse mode, as vertices of the graph that computes it: the derivative of an EinSum is
/// EinSums, so that rewrites, contraction orders and partitions are chosen for them as for any other.
///
/// Appends to `graph` what computes the derivative of `loss` with respect to each of `variables`, and gives the
/// vertices: derivative n has the extents of variable n and the labels of `variables[n]`'s reader-independent head (new
/// ones where the variable is an input). `loss` has rank 0 and a real type; a variable is any vertex of the graph, an
/// input or not, on which `loss` may or may not depend (the derivative is zeros then). Selections X(3,:) are part of
/// the input vertex X of the same name where that is a variable. Derivatives have their variable's element type, and
/// are vertices with an EinSum of their own.
///
/// Conventions: MIN and MAX pass to where the extreme is taken, in equal shares where several are equal; so do ABS at 0
/// (0), RELU at 0 (0), SIGN, FLOOR, CEIL, ROUND, comparisons and logic (0 everywhere), CASE by branch, LEAST and
/// GREATEST by argument in equal shares. Complex variables: for a holomorphic contraction the derivative is the
/// transposed linear map without conjugation, as jax.vjp has it.
/// Throws Error{Type} that names the function, and the definition that it stands in, where there is no derivative:
/// ARGMIN and ARGMAX give an index, on which nothing depends smoothly, and so does CAST to INT64.
/// A pure function of the graph; thread-safe.
std::vector<VertexId> add_gradients(EinGraph& graph, VertexId loss, const std::vector<VertexId>& variables);

}  // namespace eindb
