#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/kernels/label_view.hpp"
#include "tensor/access_form.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// Reads the cells of an access where its operand has them, without a copy: a step of a label is the sum of the steps
/// of the indices that it moves. Where indices of a call leave the operand, the cells that they reach are copied once
/// between zeros, and read there.
///
/// Immutable, thread-safe.
class WindowKernel {
 public:
  /// `form`: the window_form of the EinSum.
  WindowKernel(AccessForm form, const EinSum& einsum, const LabelTable& labels);

  /// The most bytes of the copy of a call with ranges of at most these sizes, one per label of einsum.labels(); 0 if no
  /// call takes one.
  std::int64_t frame_bytes(std::span<const std::int64_t> label_sizes, DType type) const;
  /// The cells of a call as a view over einsum.labels(). `source` is the operand's, and `frame` has the bytes of a copy
  /// of these ranges; both must outlive the view. The range of a label that is determined
  /// has all indices that the others determine and that the tensor has.
  LabelView view(const LabelView& source, std::span<const PartRange> ranges, std::byte* frame) const;
  /// "read in place", or "read between zeros" if calls on the whole tensors take a copy.
  const char* describe() const { return leaves_ ? "read between zeros" : "read in place"; }

 private:
  // A label whose index others determine, and the places of these with their steps.
  struct Index {
    std::size_t label;
    std::vector<std::pair<std::size_t, std::int64_t>> behind;
    std::int64_t offset;
  };
  // The first and the last index that the ranges reach.
  struct Reach {
    std::int64_t first;
    std::int64_t last;
  };

  Reach reach_of(const Index& index, std::span<const PartRange> ranges) const;
  const Index* index_of(std::size_t label) const;

  std::vector<std::int64_t> extents_;  // of the labels
  std::vector<std::size_t> source_;    // the labels of the operand, each once
  std::vector<Index> indices_;
  bool leaves_ = false;  // some index of the whole tensors lies outside
};

}  // namespace eindb
