#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derivatives/vertex_draft.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of one vertex by its inputs. For Z[l] = AGG over a of f(X0[l0], X1[l1], ...)
///
///     dXn[ln] = SUM over all labels but ln of dZ[l] * w * df/dXn         (reverse)
///     dZ[l]   = SUM over a of w * (df/dX0 * dX0 + df/dX1 * dX1 + ...)    (forward)
///
/// where w is the derivative of the aggregate by the value of f in a cell: 1 for SUM; for PROD the product of the other
/// values, without a division by zero; for MIN and MAX 1 at the extreme value, in equal shares among equal values, and
/// 0 elsewhere; for an associative, commutative aggregate of a user the derivative of its combination by its second
/// value, where the first one is the aggregate of all other cells. The derivatives of a contraction are contractions.

/// The vertices to which the rules below apply in place of `vertex`, in the order of computation: usually itself. If
/// PROD, MIN, MAX or a user's aggregate runs over more than a plain operand, a new vertex of the values of f and their
/// aggregate, so that each cell's value is computed once. (An extreme value must be compared with the very values from
/// which it was taken, as others might be rounded differently.)
std::vector<VertexId> differentiable_parts(EinGraph& graph, VertexId vertex);

/// The contribution of `vertex`, which has `cotangent`, to the cotangent of its input `n`; its dimensions are those of
/// the input. nullopt: zero. Error{Type} if there is no derivative (CAST to INT64).
std::optional<Derivative> pull_back(EinGraph& graph, VertexId vertex, std::size_t n, const Derivative& cotangent,
                                    const std::string& name);

/// The tangent of `vertex` if its inputs have `tangents`, where nullopt means zero. Throws like pull_back.
std::optional<Derivative> push_forward(EinGraph& graph, VertexId vertex,
                                       const std::vector<std::optional<Derivative>>& tangents, const std::string& name);

/// Whether the value varies smoothly with input `n`; it does not with comparisons, FLOOR or ARGMAX.
bool varies_with(const EinGraph& graph, VertexId vertex, std::size_t n);

/// Error{Type} for ARGMIN and ARGMAX in the binder's form: nothing depends smoothly on an index.
void require_differentiable(const EinGraph& graph, VertexId vertex);

/// Error{Type} for INT64: variables must be real or complex.
void require_variable(const EinGraph& graph, VertexId variable);

}  // namespace eindb
