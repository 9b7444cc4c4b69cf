#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// For each vertex, whether an output is computed from it (outputs themselves count).
std::vector<bool> reached_by_outputs(const EinGraph& graph);

/// Drops the vertices that no output needs; the others keep their order.
EinGraph drop_dead_vertices(const EinGraph& graph);

}  // namespace eindb
