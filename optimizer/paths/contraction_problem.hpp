#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tensor/cell_spread.hpp"

namespace eindb {

/// What is known of the result of joining some operands of a contraction.
struct KnownResult {
  double cells = 0;
  std::map<std::size_t, DimensionSpread> spread = {};  ///< by label; empty: not known
};

/// An n-ary contraction on plain values: the sum, over all labels that are not in `output`, of `X0[operands[0]] *
/// X1[operands[1]] * ...`. Labels are indices into `extents`. No operand, nor the output, repeats a label. A label may
/// occur in any number of operands (a hyperedge).
struct ContractionProblem {
  std::vector<std::vector<std::size_t>> operands;
  std::vector<std::size_t> output;
  std::vector<std::int64_t> extents;
  /// By operand, its cells if it is a stored tensor that has few: the product is zero elsewhere. Empty if there is no
  /// such operand.
  std::vector<std::optional<CellEstimate>> cells = {};
  /// By set of operands, a bit for each: the cells that their product was seen to have, where labels that nothing else
  /// has are aggregated. With `cells` only.
  std::map<std::uint32_t, KnownResult> known = {};
};

}  // namespace eindb
