#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// A variable, and the direction in which it moves: a vertex of the same extents.
struct Tangent {
  VertexId variable;
  VertexId direction;
};

/// Appends to `graph` what computes the derivative of `result` along the tangents (JVP, forward mode), and gives its
/// vertex, which has the extents and labels of `result`, and an EinSum of its own. Conventions and errors as those of
/// add_gradients.
VertexId add_jvp(EinGraph& graph, VertexId result, const std::vector<Tangent>& tangents);

}  // namespace eindb
