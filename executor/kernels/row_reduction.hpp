#pragma once

#include <span>

#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"

namespace eindb {

/// Aggregates an operand as it is, or adds up the products of two, straight from where they lie in memory: whole rows
/// of elements that lie side by side, into accumulators that stay in the cache. Whether the labels that are aggregated
/// stand first, last or between the others decides only whether a row gives one cell or a cell for each element.
///
/// `operands` and `loops` are those of the expression kernel, whose last stream is the output. False, with nothing
/// done, if the program does more, elements change their type, or none lie side by side in rows worth the name.
/// Thread-safe.
bool reduce_rows(const LevelTable& level, const ExpressionProgram& program, Aggregate aggregate, DType compute,
                 std::span<const LabelView> operands, std::vector<Loop> loops, const MutableLabelView& accumulator,
                 bool first);

}  // namespace eindb
