#pragma once

#include <span>

#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"

namespace eindb {

/// Aggregates an operand, or the products of two, directly from memory: whole rows of contiguous elements, into
/// accumulators that stay in the cache. The position of the aggregated labels only determines whether a row gives one
/// cell or one cell per element.
///
/// `operands` and `loops` are those of the expression kernel; its last stream is the output. Returns false without
/// doing anything if the program does more, if elements are converted, or if there are no contiguous rows of a useful
/// length. Thread-safe.
bool reduce_rows(const LevelTable& level, const ExpressionProgram& program, Aggregate aggregate, DType compute,
                 std::span<const LabelView> operands, std::vector<Loop> loops, const MutableLabelView& accumulator,
                 bool first);

}  // namespace eindb
