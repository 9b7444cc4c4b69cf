#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// A variable and its direction, a vertex with the same extents.
struct Tangent {
  VertexId variable;
  VertexId direction;
};

/// Appends the derivative of `result` along the tangents (JVP, forward mode) to `graph`, and returns its vertex: a new
/// one, named "d" and the name of `result`, with its extents and labels. Conventions and errors are those of
/// add_gradients, of which this is the transposed map: if `result` is a scalar, it is the sum of the products of
/// gradients and directions. So a variable that is computed from another also moves with that one. Error{Shape} for a
/// direction whose extents differ from its variable's, Error{Type} for a complex direction of a real variable.
VertexId add_jvp(EinGraph& graph, VertexId result, const std::vector<Tangent>& tangents);

}  // namespace eindb
