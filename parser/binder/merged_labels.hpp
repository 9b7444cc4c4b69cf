#pragma once

#include <vector>

#include "parser/ast.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// A vertex with the cells of `vertex`, in whose head some labels next to each other have become one dimension, the
/// last label fastest: Z[(i,j),k]. Its label is named after them, "i_j". `merged` has their places in ascending order.
/// Throws Error{Shape} beyond 64 bits.
VertexId merge_labels(EinGraph& graph, VertexId vertex, const std::vector<ast::Definition::Merged>& merged);

}  // namespace eindb
