#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "derivatives/vertex_draft.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of functions of vectors and matrices (tensor/block_function), as contractions of their results and of
/// further such functions (M. Giles, Collected matrix derivative results for forward and reverse mode, 2008; for QR
/// H.-J. Liao and others, 2019). With B = INVERSE(A), for example, dA = -B^T dB B^T. Vectors are in vector_rule,
/// factorisations in factorisation_rule.

/// Error{Type} where there is no derivative: of the orders of values and counts, and of complex matrices
/// where the function is not holomorphic.
void require_block_derivative(const EinGraph& graph, VertexId id);

/// See vertex_rule: the contribution of a vertex with a block function to the cotangent of its input n.
std::optional<Derivative> pull_back_block(EinGraph& graph, VertexId id, std::size_t n, const Derivative& cotangent,
                                          const std::string& name);

/// See vertex_rule: the tangent of such a vertex.
std::optional<Derivative> push_forward_block(EinGraph& graph, VertexId id,
                                             const std::vector<std::optional<Derivative>>& tangents,
                                             const std::string& name);

}  // namespace eindb
