#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derivatives/vertex_draft.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of one vertex by what it reads. For Z[l] = AGG over a of f(X0[l0], X1[l1], ...)
///
///     dXn[ln] = SUM over all labels but ln of dZ[l] * w * df/dXn         (reverse)
///     dZ[l]   = SUM over a of w * (df/dX0 * dX0 + df/dX1 * dX1 + ...)    (forward)
///
/// where w is the derivative of the aggregate by the value of f in a cell: 1 for SUM; for PROD the product of the other
/// values, without a division by zero; for MIN and MAX 1 where the value is the extreme one, in equal shares among
/// equal ones, and 0 elsewhere. A contraction has contractions as derivatives.

/// What the rules below are to be applied to in the place of `vertex`, in the order of computation: itself, or, where
/// PROD, MIN or MAX runs over more than an operand, a new vertex of the values of f, once per cell, and their
/// aggregate. (A value must not be compared with an extreme one that was computed elsewhere, and perhaps rounded
/// otherwise.)
std::vector<VertexId> differentiable_parts(EinGraph& graph, VertexId vertex);

/// The cotangent of input `n` of `vertex` as far as it comes through this vertex, where that has `cotangent`; its
/// dimensions are those of the input. nullopt: zero. Error{Type} where there is no derivative (CAST to INT64).
std::optional<Derivative> pull_back(EinGraph& graph, VertexId vertex, std::size_t n, const Derivative& cotangent,
                                    const std::string& name);

/// The tangent of `vertex` where its inputs have `tangents`, nullopt standing for zero. Errors as of pull_back.
std::optional<Derivative> push_forward(EinGraph& graph, VertexId vertex,
                                       const std::vector<std::optional<Derivative>>& tangents, const std::string& name);

/// Whether the value changes smoothly with input `n` at all: not by comparisons, FLOOR, or as ARGMAX.
bool varies_with(const EinGraph& graph, VertexId vertex, std::size_t n);

/// Error{Type} for ARGMIN and ARGMAX, as the binder makes them: nothing depends smoothly on an index.
void require_differentiable(const EinGraph& graph, VertexId vertex);

/// Error{Type} for INT64: derivatives are by real and complex numbers.
void require_variable(const EinGraph& graph, VertexId variable);

}  // namespace eindb
