#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/partitions/cost_model.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The shapes of a graph's vertices, each found once: a choice looks at many labellings of one graph. The graph must
/// outlive it and stay as it is. Used by one thread.
class VertexShapes {
 public:
  explicit VertexShapes(const EinGraph& graph) : graph_(graph), shapes_(graph.size()) {}
  VertexShapes(const VertexShapes&) = delete;
  VertexShapes& operator=(const VertexShapes&) = delete;

  /// The shape of a vertex that is no input (shape_of).
  const VertexShape& of(VertexId id);
  /// Its shape in the calls of a chain of the graph that has it (shape_in_chain).
  const VertexShape& in_chain(VertexId id, const FusedChain& chain);
  bool are_of(const EinGraph& graph) const { return &graph == &graph_; }

 private:
  const EinGraph& graph_;
  std::vector<std::optional<VertexShape>> shapes_;  // by vertex
  std::map<std::pair<const FusedChain*, VertexId>, VertexShape> in_chains_;
};

}  // namespace eindb
