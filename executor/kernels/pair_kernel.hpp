#pragma once

#include <optional>
#include <span>
#include <vector>

#include "executor/kernels/contraction_kernel.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "tensor/pair_form.hpp"

namespace eindb {

/// SUM, MIN or MAX of a function of one element of each of two operands, over labels that both have: squared distances,
/// max-plus products, counts of equal values, products of whole numbers. Runs like a matrix product, in blocks of
/// accumulators that stay in registers, on panels packed into the caches.
///
/// Sums are taken over 128 terms at a time in the element type, and such partial sums added: the error is at most
/// (128 + k / 128) units of rounding of the sum of the absolute terms. Long sums are for loops (tensor/kernel_choice).
///
/// Immutable, thread-safe.
class PairKernel {
 public:
  PairKernel(const PairForm& form, Aggregate aggregate, DType compute);

  ContractionSize size(std::span<const std::int64_t> label_sizes) const;

  /// As ExpressionKernel::run. False, with nothing done, if values that are not finite need the care of the general
  /// kernel: MIN and MAX of what may be NaN.
  bool run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
           const MutableLabelView& accumulator, bool first) const;

  /// Bytes beside operands and result that a call on views like these, of these sizes or smaller ones, takes at most:
  /// panels, and copies of what does not lie as a matrix. No elements are looked at.
  std::size_t workspace_bytes(const LevelTable& level, std::span<const LabelView> operands,
                              std::span<const std::int64_t> label_sizes, const MutableLabelView& accumulator) const;

  /// "MAX of sums", "SUM of squared differences", ...
  std::string describe() const;

 private:
  PairFunction function_;
  Aggregate aggregate_;
  DType compute_;
  std::size_t left_;  // operand numbers
  std::size_t right_;
  std::vector<ContractionRole> roles_;  // per label
};

}  // namespace eindb
