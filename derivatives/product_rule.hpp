#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Vertices that are added to compute the product of a vertex, `values`, over all of the labels `aggregated`, one after
/// the other, each with the one before as its only operand: running products and their last ones, and a power for
/// labels that the values lack. The last vertex has the head `output`. Derivatives of PROD are those of its parts
/// (derivatives/scan_rule), without divisions, so that values of 0 are as good as others, also where derivatives are
/// derived again.
std::vector<VertexId> product_parts(EinGraph& graph, VertexId values, const Labels& aggregated, const Labels& output);

}  // namespace eindb
