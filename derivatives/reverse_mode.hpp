#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of a scalar by reverse mode, as vertices of the graph that computes it. The derivative of an EinSum
/// consists of EinSums, so rewrites, contraction orders and partitions apply to them as to any other.
///
/// Appends the derivatives of `loss` with respect to each of `variables` to `graph`, and returns their vertices.
/// Derivative n is a new vertex, named "d" and the name of variable n, with its extents, element type and labels (for
/// an input, the labels with which the graph first reads it). `loss` has rank 0 and a real type. A variable is any
/// vertex of the graph; if `loss` does not depend on it, the derivative is zeros. If one variable is computed from
/// another, the derivative by the latter includes the path through the former. Selections X(3,:) are part of the
/// variable X, the input of the same name.
///
/// The graph must be as the binder makes it, before any rewrite. The new vertices read its vertices, so nothing that
/// the loss computed is computed again. An explicit path of a statement is the order of its vertices, and also
/// determines that of their derivatives.
///
/// Conventions: MIN and MAX pass the cotangent to the extreme elements, in equal shares if there are several, and so do
/// LEAST and GREATEST. ABS at 0 and RELU at 0 pass 0; SIGN, FLOOR, CEIL, ROUND, comparisons and logic pass 0
/// everywhere. CASE passes to the branch that is taken, and 0 to the others, even if their derivatives are not finite.
/// x % y passes 1 to x. PROD is correct even if factors are zero. LOGSUMEXP of only -INFINITY passes 0. The maximum in
/// softmax, which cancels, is not differentiated (derivatives/shift_invariance). Complex variables: the cotangent w of
/// z satisfies dL = Re(w dz), as in jax.grad. So the cotangent of a holomorphic contraction is the transposed linear
/// map, without conjugation; REAL, IMAG, CONJ, ABS and COMPLEX have their own rules.
///
/// Throws Error{Type}, naming the function and its definition, if there is no derivative: ARGMIN and ARGMAX give an
/// index, on which nothing depends smoothly, and so does CAST to INT64 (deciding a comparison is no dependence).
/// Error{Type} for INT64 variables and a complex loss, Error{Shape} for a loss that is no scalar, Error{Unsupported}
/// for derivatives with more than a million terms. A pure function of the graph; thread-safe.
std::vector<VertexId> add_gradients(EinGraph& graph, VertexId loss, const std::vector<VertexId>& variables);

}  // namespace eindb
