#pragma once

#include <optional>
#include <string>

#include "derivatives/vertex_draft.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Derivatives of running aggregates (tensor/scan_form) other than sums, in time proportional to their cells. With c[t]
/// = f(c[t-1], x[t]) the tangent is a linear recurrence, dc[t] = f1[t] * dc[t-1] + f2[t] * dx[t], where f1 and f2 are
/// the derivatives of f by its two arguments, and so is the way back (tensor/block_function).

/// Whether the vertex is a running aggregate that the functions below derive: any scan but one of SUM.
bool is_running_aggregate(const Vertex& vertex);

/// See vertex_rule, of a running aggregate.
std::optional<Derivative> pull_back_scan(EinGraph& graph, VertexId id, const Derivative& cotangent,
                                         const std::string& name);
std::optional<Derivative> push_forward_scan(EinGraph& graph, VertexId id, const Derivative& tangent,
                                            const std::string& name);

}  // namespace eindb
