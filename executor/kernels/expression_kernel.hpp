#pragma once

#include <span>
#include <vector>

#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"

namespace eindb {

/// The general kernel for any expression with any aggregate. It runs the expression's program over boxes of a few
/// hundred elements that stay in the first-level cache, and folds them into accumulators that stay there too.
/// Immutable, thread-safe.
class ExpressionKernel {
 public:
  /// `compute` is the type of the expression's value. The expression must have explicit types, for these operand types.
  ExpressionKernel(const EinSum& einsum, const LabelTable& labels, const std::vector<DType>& operand_types,
                   DType compute);

  /// See Kernel::run; tiles are views over einsum.labels(). No label's range may be empty.
  void run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
           const MutableLabelView& accumulator, bool first) const;

  const ExpressionProgram& program() const { return program_; }

 private:
  std::vector<Stream> streams(std::span<const LabelView> operands) const;
  std::vector<Loop> loops(std::span<const LabelView> operands, std::span<const PartRange> ranges,
                          const MutableLabelView& accumulator) const;
  StreamOffsets begin(std::span<const PartRange> ranges) const;

  // For an expression that is an operand alone, in the output's order of labels.
  bool is_copy() const;
  void copy(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
            const MutableLabelView& to) const;

  Aggregate aggregate_;
  DType compute_;
  std::vector<bool> aggregated_;  // by label
  ExpressionProgram program_;
};

}  // namespace eindb
