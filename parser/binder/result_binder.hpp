#pragma once

#include <string>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Names for the dimensions of a vertex, distinct, as columns need them: the second i of Z[i,i] is i_2. Of an input, a
/// tensor as it is stored, those that its first reader gives it; of one that nothing reads d0, d1, ...
std::vector<std::string> dimension_names(const EinGraph& graph, VertexId vertex);

/// Adds a vertex that is `vertex` again, under the name `name`.
VertexId add_copy(EinGraph& graph, VertexId vertex, const std::string& name);

/// Whether any vertex of the graph reads this one.
bool is_read(const EinGraph& graph, VertexId vertex);

}  // namespace eindb
