#pragma once

#include <string>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Distinct names for the dimensions of a vertex, as columns need them: the second i of Z[i,i] is i_2. An input, which
/// is a stored tensor, gets the labels of its first reader, or d0, d1, ... if it has none.
std::vector<std::string> dimension_names(const EinGraph& graph, VertexId vertex);

/// The names of the indices of the vertex's dimensions.
DimensionNames index_names(const EinGraph& graph, VertexId vertex);

/// Adds a vertex that copies `vertex`, under the name `name`.
VertexId add_copy(EinGraph& graph, VertexId vertex, const std::string& name);

/// Stores the result of a vertex that nothing reads in another type. INT64 is also what a computation with whole
/// numbers alone is done in then, which would be FLOAT64 otherwise, and lose digits.
void set_result_type(EinGraph& graph, VertexId vertex, DType type);

/// The vertex with another type of its result, or, if it has readers, or is converted already, a copy of it with that
/// type, under the name `name`.
VertexId with_result_type(EinGraph& graph, VertexId vertex, DType type, const std::string& name);

/// Whether any vertex of the graph reads `vertex`.
bool is_read(const EinGraph& graph, VertexId vertex);

}  // namespace eindb
