#pragma once

#include "plan/plan_operator.hpp"

namespace eindb {

/// Hands the finished tiles of one result to whoever asked, in the partition of the node's grid. Others may read what
/// it reads.
struct SinkNode {
  static constexpr auto kRole = OperatorRole::Delivery;

  NodeId input;
  std::size_t result = 0;  ///< its number, among the results of the statement

  std::string name() const { return "sink"; }
  std::vector<NodeId> reads() const { return {input}; }
  void check(const OperatorView& view, const Checker& check) const;
  DescriptionFields describe(const EinGraph&) const { return {}; }
  std::size_t result_number() const { return result; }
};

}  // namespace eindb
