#pragma once

#include "plan/plan_operator.hpp"

namespace eindb {

/// Groups the join's results by their key over einsum.output, and reduces each group with the join's aggregate. Where
/// possible, the executor accumulates kernel calls directly in the group's tile.
struct GroupByNode {
  static constexpr auto kRole = OperatorRole::Completion;

  NodeId input;  ///< a JoinNode

  std::string name() const { return "group-by"; }
  std::vector<NodeId> reads() const { return {input}; }
  void check(const OperatorView& view, const Checker& check) const;
  DescriptionFields describe(const EinGraph&) const { return {}; }
};

}  // namespace eindb
