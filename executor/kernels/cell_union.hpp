#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/kernels/cell_points.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/dtype.hpp"

namespace eindb {

/// An expression of two tries with the same dimensions in the same order, in the cells that either has: their levels
/// are merged, and the result's are written as they come. For one call, by one thread.
class CellUnion {
 public:
  /// The expression has the operands 0 and 1 and no numbers, and is zero where both are. All outlive the object.
  CellUnion(const CellTrie& first, const CellTrie& second, const PointExpression& expression, DType compute);
  /// The result in the tries' order of levels, with values of the compute type, without those that are +0. Polls for
  /// cancellation.
  CellTrie make();

 private:
  struct Nodes {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  template <class A, class B>
  void merge(std::size_t level, Nodes a, Nodes b);
  template <class A, class B>
  void merge_line(Nodes a, Nodes b);
  Nodes below(const CellTrie& trie, std::size_t level, std::int64_t node) const;
  void evaluate();

  const CellTrie& first_;
  const CellTrie& second_;
  const PointExpression& expression_;
  const std::size_t value_bytes_;
  GrowingTrie made_;
  std::size_t count_ = 0;                          // of cells, those held among them
  std::size_t evaluated_ = 0;                      // of cells
  bool has_zeros_ = false;                         // among those
  std::array<std::vector<std::byte>, 2> columns_;  // the operands' values in those that are not evaluated
};

}  // namespace eindb
