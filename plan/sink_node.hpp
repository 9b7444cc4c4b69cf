#pragma once

#include "plan/plan_operator.hpp"

namespace eindb {

/// Passes the finished tiles of one result to its consumer, in the partition of the node's grid. Other nodes may read
/// its input too.
struct SinkNode {
  static constexpr auto kRole = OperatorRole::Delivery;

  NodeId input;
  std::size_t result = 0;  ///< its index among the results of the statement

  std::string name() const { return "sink"; }
  std::vector<NodeId> reads() const { return {input}; }
  void check(const OperatorView& view, const Checker& check) const;
  DescriptionFields describe(const EinGraph&) const { return {}; }
  std::size_t result_number() const { return result; }
};

}  // namespace eindb
