#pragma once

#include <span>
#include <vector>

#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"

namespace eindb {

/// The general kernel: any expression with any aggregate. Runs the expression's program over boxes of some hundred
/// elements that stay in the first-level cache, and folds them into accumulators that stay there too.
/// Immutable, thread-safe.
class ExpressionKernel {
 public:
  /// `compute` is the type of the expression's value, with its types written down for operands of these.
  ExpressionKernel(const EinSum& einsum, const LabelTable& labels, const std::vector<DType>& operand_types,
                   DType compute);

  /// As Kernel::run, with tiles as views over einsum.labels(); no label's range is empty.
  void run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
           const MutableLabelView& accumulator, bool first) const;

  const ExpressionProgram& program() const { return program_; }

 private:
  std::vector<Stream> streams(std::span<const LabelView> operands) const;
  std::vector<Loop> loops(std::span<const LabelView> operands, std::span<const PartRange> ranges,
                          const MutableLabelView& accumulator) const;
  StreamOffsets begin(std::span<const PartRange> ranges) const;

  // An operand as it is, in the output's order of labels.
  bool is_copy() const;
  void copy(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
            const MutableLabelView& to) const;

  Aggregate aggregate_;
  DType compute_;
  std::vector<bool> aggregated_;  // per label
  ExpressionProgram program_;
};

}  // namespace eindb
