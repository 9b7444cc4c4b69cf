#pragma once

#include <vector>

#include "plan/plan_operator.hpp"

namespace eindb {

/// Joins tensor relations along a dimension, one after the other, as numpy.concatenate joins arrays: the result has
/// their elements in the tiles of the node's grid. In the other dimensions all have one extent.
///
/// Example: of inputs of shapes [3,4] and [2,4] along dimension 0, row 3 of the result, which has 5, is row 0 of the
/// second input.
struct ConcatenationNode {
  static constexpr auto kRole = OperatorRole::Layout;

  std::vector<NodeId> inputs;  ///< at least one, all different
  std::size_t along = 0;       ///< a dimension of the result

  std::string name() const { return "concatenation"; }
  std::vector<NodeId> reads() const { return inputs; }
  void check(const OperatorView& view, const Checker& check) const;
  DescriptionFields describe(const EinGraph&) const;
  /// One loop per dimension: each result tile is gathered from the tiles of the inputs that overlap it.
  CallLoops loops(const OperatorView& view) const;
  std::size_t held_bytes() const { return inputs.capacity() * sizeof(NodeId); }
};

}  // namespace eindb
