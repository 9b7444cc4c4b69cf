#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// For each vertex, whether the output is computed from it (the output itself counts).
std::vector<bool> reached_by_output(const EinGraph& graph);

/// Drops the vertices that the output does not need; the others keep their order.
EinGraph drop_dead_vertices(const EinGraph& graph);

}  // namespace eindb
