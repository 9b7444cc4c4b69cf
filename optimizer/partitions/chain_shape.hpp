#pragma once

#include <optional>

#include "optimizer/partitions/cost_model.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The vertex of the chain that computes, cell by cell, the expression that the vertex `id` aggregates; the calls of
/// the chain compute it once. nullopt if there is none. Example: for softmax's SUM(EXP(X - M)), the vertex EXP(X - M).
std::optional<VertexId> twin_in_chain(const EinGraph& graph, VertexId id, const FusedChain& chain);

/// The shape of a vertex that is computed in the calls of a chain: values that another vertex of the chain has made or
/// read are in a cache, and the result of a twin is reused.
VertexShape shape_in_chain(const EinGraph& graph, VertexId id, const FusedChain& chain);

}  // namespace eindb
