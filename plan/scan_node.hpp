#pragma once

#include "plan/plan_operator.hpp"

namespace eindb {

/// Reads a stored tensor in the partition that it has on disk, or one that is attached in that of the node.
struct ScanNode {
  static constexpr auto kRole = OperatorRole::Source;

  InputTensor tensor;

  std::string name() const { return "scan"; }
  std::vector<NodeId> reads() const { return {}; }
  void check(const OperatorView& view, const Checker& check) const;
  /// selection: "4 of 16 tiles", where not the whole tensor is read.
  DescriptionFields describe(const EinGraph& graph) const;
  const InputTensor& stored() const { return tensor; }
  /// Gives the indices of dimensions that parameters hold.
  void substitute(const Substitution& values);
};

}  // namespace eindb
