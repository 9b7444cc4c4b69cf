#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Gives each aggregate that reads a join of cheap operations a copy of the join, if others read it, too: computing it
/// again, in strips that stay in the caches, takes less than storing and reading it, which has far more cells than its
/// operands. The gradients of MAX over a join read its values three times.
EinGraph repeat_joins(const EinGraph& graph);

}  // namespace eindb
