#pragma once

#include <optional>
#include <span>
#include <vector>

#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"
#include "executor/kernels/placed_values.hpp"
#include "executor/kernels/user_fold.hpp"

namespace eindb {

/// The general kernel for any expression with any aggregate. It runs the expression's program over boxes of a few
/// hundred elements that stay in the first-level cache, and folds them into accumulators that stay there too; those of
/// users' aggregates as executor/kernels/user_fold has it.
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
  /// The fold of a user's aggregate; null for other EinSums.
  const UserFold* fold() const { return fold_ ? &*fold_ : nullptr; }

 private:
  std::vector<Stream> streams(std::span<const LabelView> operands) const;
  std::vector<Loop> loops(std::span<const LabelView> operands, std::span<const PartRange> ranges,
                          const MutableLabelView& accumulator) const;
  LoopNest nest_in_order(const std::vector<Loop>& loops, std::span<const Stream> streams, std::int64_t elements) const;
  StreamOffsets begin(std::span<const PartRange> ranges) const;

  // For an expression that is an operand alone, in the output's order of labels.
  bool is_copy() const;
  void copy(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
            const MutableLabelView& to) const;

  Aggregate aggregate_;
  DType compute_;
  std::vector<bool> aggregated_;  // by label
  ExpressionProgram program_;
  std::optional<PlacedRegisters> placed_;
  std::optional<UserFold> fold_;
  std::vector<std::size_t> fold_order_;  // the places of the aggregated labels among all, in the order of the fold
};

}  // namespace eindb
