#pragma once

#include "plan/plan_operator.hpp"

namespace eindb {

/// Reads a stored tensor in its stored partition, or an attached one in the node's partition.
struct ScanNode {
  static constexpr auto kRole = OperatorRole::Source;

  InputTensor tensor;

  std::string name() const { return "scan"; }
  std::vector<NodeId> reads() const { return {}; }
  void check(const OperatorView& view, const Checker& check) const;
  /// Field "selection": "4 of 16 tiles", if a part of the tensor is read.
  DescriptionFields describe(const EinGraph& graph) const;
  const InputTensor& stored() const { return tensor; }
  /// Sets the indices of dimensions held by parameters.
  void substitute(const Substitution& values);
};

}  // namespace eindb
