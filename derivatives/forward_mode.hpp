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
/// vertex, one of its own, called "d" and the name of `result`, with its extents and labels. Conventions and errors as
/// those of add_gradients, of which this is the transposed map: with `result` a scalar it is the sum of the products of
/// gradients and directions. So a variable that is computed from another moves with that, too. Error{Shape} for a
/// direction of other extents than its variable, Error{Type} for a complex direction of a real one.
VertexId add_jvp(EinGraph& graph, VertexId result, const std::vector<Tangent>& tangents);

}  // namespace eindb
