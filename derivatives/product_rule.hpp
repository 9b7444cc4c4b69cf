#pragma once

#include <optional>
#include <string>
#include <vector>

#include "derivatives/vertex_draft.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of PROD and of running products, without divisions, so that values of 0 are as good as others, also
/// where derivatives are derived again. With c[t] = x[t] * c[t-1] the tangent is a linear recurrence, dc[t] = x[t] *
/// dc[t-1] + c[t-1] * dx[t], and so is the way back (tensor/block_function). A product is the last one of the running
/// products.

/// Whether the vertex is a running product that the functions below derive: a scan (tensor/scan_form) of PROD.
bool is_running_product(const Vertex& vertex);

/// Vertices that are added to compute the product of a vertex, `values`, over all of the labels `aggregated`, one after
/// the other, each with the one before as its only operand: running products and their last ones, and a power for
/// labels that the values lack. The last vertex has the head `output`.
std::vector<VertexId> product_parts(EinGraph& graph, VertexId values, const Labels& aggregated, const Labels& output);

/// See vertex_rule, of a running product.
std::optional<Derivative> pull_back_product(EinGraph& graph, VertexId id, const Derivative& cotangent,
                                            const std::string& name);
std::optional<Derivative> push_forward_product(EinGraph& graph, VertexId id, const Derivative& tangent,
                                               const std::string& name);

}  // namespace eindb
