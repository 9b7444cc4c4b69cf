#pragma once

#include <span>

#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"
#include "executor/kernels/placed_values.hpp"

namespace eindb {

/// Searches for the first index j of the aggregated label at which an operand has a given value or NaN. The binder
/// translates ARGMIN and ARGMAX to this (parser/binder/aggregate_binder):
///     MIN[j](CASE WHEN x = y OR x <> x THEN j ELSE n END)
/// with operands x, and y without j, and a constant n that no index exceeds. Values are compared in their stored type,
/// a vector at a time. The search in a long row stops at the first match, and is skipped if an earlier call has found
/// one.
///
/// `operands` and `loops` are those of the expression kernel; `begin` has the initial offsets of its streams, the last
/// of which is the output. Returns false without doing anything if the program does not match, if a conversion before
/// the comparison could make different values equal, or if the values are contiguous along no loop. Thread-safe.
bool search_index(const LevelTable& level, const ExpressionProgram& program, Aggregate aggregate, DType compute,
                  std::span<const LabelView> operands, std::vector<Loop> loops, const StreamOffsets& begin,
                  const MutableLabelView& accumulator, bool first);

/// Finds the extreme of an operand's values along the aggregated label and the first index that has it, in one reading:
/// FirstLeast or FirstGreatest of the operand with the index (tensor/placed_value). Where values are contiguous along
/// the label, a block that stays in the caches is folded, and then searched for what was found; where they are so
/// across it, both come of one pass over adjacent cells.
///
/// As above otherwise: false if the program computes the values, if a conversion could make different ones equal, or if
/// no loop has contiguous values.
bool search_extreme(const LevelTable& level, const ExpressionProgram& program, const PlacedRegisters& placed,
                    Aggregate aggregate, std::span<const LabelView> operands, std::vector<Loop> loops,
                    const StreamOffsets& begin, const MutableLabelView& accumulator, bool first);

}  // namespace eindb
