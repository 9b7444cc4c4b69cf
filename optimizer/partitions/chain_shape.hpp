#pragma once

#include <optional>

#include "optimizer/partitions/cost_model.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The vertex of the chain that computes, for each cell, what the vertex `id` of the chain aggregates: within the calls
/// of the chain it is computed once. Example: of softmax's SUM(EXP(X - M)), the vertex EXP(X - M).
std::optional<VertexId> twin_in_chain(const EinGraph& graph, VertexId id, const FusedChain& chain);

/// Of a vertex that is computed in the calls of a chain: what another vertex of the chain has made or read is in a
/// cache, and what a twin computes is there.
VertexShape shape_in_chain(const EinGraph& graph, VertexId id, const FusedChain& chain);

}  // namespace eindb
