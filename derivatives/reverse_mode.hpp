#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of a scalar by reverse mode, as vertices of the graph that computes it: the derivative of an EinSum is
/// EinSums, so that rewrites, contraction orders and partitions are chosen for them as for any other.
///
/// Appends to `graph` what computes the derivative of `loss` with respect to each of `variables`, and gives the
/// vertices: derivative n is a vertex of its own, called "d" and the name of variable n, with its extents, its element
/// type and its labels (of an input, those that the graph first reads it with). `loss` has rank 0 and a real type; a
/// variable is any vertex of the graph, an input or not, on which `loss` may or may not depend (the derivative is zeros
/// then). Where one variable is computed from another, that one's derivative counts what goes through it.
/// Selections X(3,:) are part of the input X of the same name where that is a variable.
///
/// The graph is one as the binder makes it, before any rewrite. Its vertices are read by the new ones, so that what the
/// loss computed is not computed again; a path that the statement gave is the order of the vertices, and stays that of
/// their derivatives.
///
/// Conventions: MIN and MAX pass to where the extreme is taken, in equal shares where several are equal, and so do
/// LEAST and GREATEST; ABS at 0 and RELU at 0 pass 0, and so do SIGN, FLOOR, CEIL, ROUND, comparisons and logic
/// everywhere; CASE passes to the branch that is taken, and 0 to the others, whatever they would give; x % y passes 1
/// to x. PROD is right also where factors are zero. LOGSUMEXP of -INFINITY alone passes 0. The maximum in softmax,
/// which cancels, is not derived at all (derivatives/shift_invariance). Complex variables: the cotangent w of z is such
/// that dL = Re(w dz), as of jax.grad. So of a holomorphic contraction it is the transposed linear map, without
/// conjugation; REAL, IMAG, CONJ, ABS and COMPLEX have theirs.
///
/// Throws Error{Type} that names the function, and the definition that it stands in, where there is no derivative:
/// ARGMIN and ARGMAX give an index, on which nothing depends smoothly, and so does CAST to INT64 (what they decide in a
/// comparison is no dependence). Error{Type} for variables of INT64 and a complex loss, Error{Shape} for one that is no
/// scalar, Error{Unsupported} for derivatives of more than a million terms.
/// A pure function of the graph; thread-safe.
std::vector<VertexId> add_gradients(EinGraph& graph, VertexId loss, const std::vector<VertexId>& variables);

}  // namespace eindb
