#pragma once

#include "plan/plan_operator.hpp"

namespace eindb {

/// Cuts a tensor relation differently: the result has the same elements in the tiles of the node's grid.
struct RepartitionNode {
  static constexpr auto kRole = OperatorRole::Layout;

  NodeId input;

  std::string name() const { return "repartition"; }
  std::vector<NodeId> reads() const { return {input}; }
  void check(const OperatorView& view, const Checker& check) const;
  DescriptionFields describe(const EinGraph&) const { return {}; }
  /// One loop per dimension: each result tile is gathered from the source tiles that overlap it.
  CallLoops loops(const OperatorView& view) const;
};

}  // namespace eindb
