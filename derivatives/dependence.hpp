#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Whether `selected` is an input that reads a part of the stored tensor of the input `whole`: X(3,:) for X.
bool is_selected_from(const EinGraph& graph, VertexId selected, VertexId whole);

/// For every vertex, whether it is one of `variables`, a selection from one, or computed from one; false for extremes
/// that cancel in `result` (derivatives/shift_invariance).
std::vector<bool> smoothly_depending_on(const EinGraph& graph, const std::vector<VertexId>& variables, VertexId result);

/// For every input, the labels with which the graph first reads it; empty if nothing reads it.
std::vector<Labels> first_reads(const EinGraph& graph);

}  // namespace eindb
