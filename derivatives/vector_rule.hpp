#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "derivatives/vertex_draft.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of functions of vectors: linear recurrences, whose derivatives are recurrences; Fourier transforms,
/// which are linear and symmetric; and quantiles, which pass to the one or two values that they are taken from. As
/// pull_back_block and push_forward_block, for vertices with such a function.
std::optional<Derivative> pull_back_vector(EinGraph& graph, VertexId id, std::size_t n, const Derivative& cotangent,
                                           const std::string& name);
std::optional<Derivative> push_forward_vector(EinGraph& graph, VertexId id,
                                              const std::vector<std::optional<Derivative>>& tangents,
                                              const std::string& name);

}  // namespace eindb
