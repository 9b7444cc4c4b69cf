#pragma once

#include <optional>
#include <span>
#include <vector>

#include "executor/kernels/contraction_kernel.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/pair_matrices.hpp"
#include "tensor/pair_form.hpp"

namespace eindb {

/// SUM, MIN or MAX, over labels of both operands, of a function of one element of each: squared distances, max-plus
/// products, counts of equal values, integer products. Works like a matrix product, in blocks of accumulators that stay
/// in registers, on panels packed into the caches.
///
/// Sums are computed over 128 terms at a time in the element type, and these partial sums are added: the error is at
/// most (128 + k / 128) roundings of the sum of the absolute terms. Sums longer than kLongestSum are refused.
/// Conjunctions and disjunctions are counted, or looked for, on bits (TruthRun). The search for an index, and extremes
/// with their indices, compare values in the operands' type.
///
/// Immutable, thread-safe.
class PairKernel {
 public:
  PairKernel(const PairForm& form, Aggregate aggregate, DType compute);

  ContractionSize size(std::span<const std::int64_t> label_sizes) const;

  /// See ExpressionKernel::run. Returns false without doing anything if non-finite values need the general kernel: MIN
  /// and MAX of values that may be NaN, alone or with their indices; or if operands that are compared in their own type
  /// have several; or if a search has an index that its `none` does not exceed.
  bool run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
           const MutableLabelView& accumulator, bool first) const;

  /// The most bytes beside operands and result for a call on such views of at most these sizes: panels, and copies of
  /// operands that do not form a matrix. Reads no elements.
  std::size_t workspace_bytes(const LevelTable& level, std::span<const LabelView> operands,
                              std::span<const std::int64_t> label_sizes, const MutableLabelView& accumulator) const;

  /// A text such as "MAX of sums" or "SUM of squared differences".
  std::string describe() const;

 private:
  bool is_packed_as_bits() const;
  /// Whether values are compared in the operands' type, whatever the result's is.
  bool compares_operands() const { return sought_ || has_place(aggregate_); }
  /// The type in which values are packed and computed.
  DType packed_type(std::span<const LabelView> operands) const;
  const PartRange& depth_of(std::span<const PartRange> ranges) const;
  bool place(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
             const PairGroups& groups, const PairMatrices& results, const MutableLabelView& accumulator,
             bool first) const;
  bool search(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
              const PairGroups& groups, const PairMatrices& results, const MutableLabelView& accumulator,
              bool first) const;

  PairFunction function_;
  Aggregate aggregate_;
  DType compute_;
  std::size_t left_;  // operand numbers
  std::size_t right_;
  std::vector<ContractionRole> roles_;  // per label
  bool compares_before_converting_;
  std::optional<std::size_t> sought_;  // operand number
  double none_;
  bool places_integers_;
};

}  // namespace eindb
