#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "derivatives/vertex_draft.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of QR, EIGH and SVD, and of what is defined by the latter, PINV and LSTSQ (J. Townsend, Differentiating
/// the singular value decomposition, 2016; G. Golub and V. Pereyra, 1973, for the pseudo-inverse of matrices whose rank
/// does not change). As pull_back_block and push_forward_block, for vertices with such a function. Where two
/// eigenvalues or singular values are equal, vectors have no derivative: what depends on the values alone still has
/// one.
std::optional<Derivative> pull_back_factors(EinGraph& graph, VertexId id, std::size_t n, const Derivative& cotangent,
                                            const std::string& name);
std::optional<Derivative> push_forward_factors(EinGraph& graph, VertexId id,
                                               const std::vector<std::optional<Derivative>>& tangents,
                                               const std::string& name);

/// Error{Type} for a QR of a matrix with more columns than rows, which has none.
void require_factors_derivative(const EinGraph& graph, VertexId id);

}  // namespace eindb
