#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "executor/kernels/label_view.hpp"
#include "tensor/access_form.hpp"

namespace eindb {

/// Reads, or adds up, cells at computed indices: one pass over the free labels of an access instead of one over all
/// cells of its join. Affine indices are strides; rows of contiguous cells are copied at once.
///
/// Immutable, thread-safe.
class AccessKernel {
 public:
  /// Throws Error{Shape} if an affine index exceeds 64 bits.
  AccessKernel(AccessForm form, const EinSum& einsum, const LabelTable& labels, DType compute);

  /// See Kernel::run. Throws Error{Value} if an index operand has kIndexOutOfBounds.
  void run(std::span<const LabelView> operands, std::span<const PartRange> ranges, const MutableLabelView& accumulator,
           bool first) const;

  /// Whether no cell of these ranges has the determined indices, whatever the operands are.
  bool is_empty(std::span<const PartRange> ranges) const;
  /// Whether operand n has indices.
  bool has_indices(std::size_t operand) const;
  /// Throws Error{Value} if the tile of an operand that has indices has kIndexOutOfBounds.
  void check_indices(std::size_t operand, const Tile& tile, std::span<const PartRange> ranges) const;
  /// "strided copy", "gather", "strided sum" or "scatter".
  std::string describe() const;

 private:
  class Call;

  std::size_t place_of(Label label) const;
  bool is_told_by_result(Label label) const;
  void add_place(std::size_t label, std::int64_t index, std::string& place) const;
  Error out_of_bounds(std::size_t operand, std::int64_t element, const std::string& place) const;

  AccessForm form_;
  std::vector<Labels> inputs_;
  Labels labels_;
  std::vector<std::string> names_;       // of the labels
  std::vector<std::int64_t> extents_;    // of the labels
  std::vector<std::size_t> determined_;  // the place of each determined label
  std::vector<bool> in_output_;          // by label
  DType compute_;
  bool writes_once_ = false;  // no cell of the result is reached twice
  bool writes_all_ = false;   // every cell of the result is visited, though its index may be out of range
};

}  // namespace eindb
