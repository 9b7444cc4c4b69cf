#pragma once

#include <span>
#include <string>
#include <vector>

#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/pair_kernel.hpp"
#include "tensor/pair_form.hpp"

namespace eindb {

/// LOGSUMEXP of a sum of two operands over labels that both have, as a product of matrices: with a[i] and b[k] the
/// greatest values of a row of either operand,
///
///     LOGSUMEXP[j](X[i,j] + Y[j,k]) = a[i] + b[k] + LOG(SUM[j](EXP(X[i,j] - a[i]) * EXP(Y[j,k] - b[k])))
///
/// Nothing overflows. Where the greatest values of two rows are at different places the products may underflow; cells
/// whose sum is too small to be exact, and those of rows with infinities or NaN, are computed term by term. Computed in
/// double precision. Immutable, thread-safe.
class LogSumExpKernel {
 public:
  /// `compute` is FLOAT32 or FLOAT64.
  LogSumExpKernel(const PairForm& form, DType compute);

  ContractionSize size(std::span<const std::int64_t> label_sizes) const { return products_.size(label_sizes); }

  /// See ExpressionKernel::run.
  void run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
           const MutableLabelView& accumulator, bool first) const;

  /// The most bytes beside operands and result for a call on views of at most these sizes.
  std::size_t workspace_bytes(const LevelTable& level, std::span<const std::int64_t> label_sizes) const;

  std::string describe() const { return "LOGSUMEXP of sums"; }

 private:
  std::size_t left_;  // operand numbers
  std::size_t right_;
  std::vector<ContractionRole> roles_;  // per label
  PairKernel products_;
};

}  // namespace eindb
