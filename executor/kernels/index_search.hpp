#pragma once

#include <span>

#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"

namespace eindb {

/// The first index j of the aggregated label at which an operand has a given value, or NaN: what ARGMIN and ARGMAX
/// become (parser/binder/aggregate_binder),
///     MIN[j](CASE WHEN x = y OR x <> x THEN j ELSE n END)
/// with operands x, and y without j, and a constant n that no index exceeds. Values are compared as they are stored, a
/// vector at a time, and the end of a long row is not read where its beginning, or an earlier call, has the index.
///
/// `operands` and `loops` are those of the expression kernel; `begin` is where its streams begin, of which the last one
/// is the output. False, with nothing done, if the program is another one, its values are converted before they are
/// compared in a way that may make different ones equal, or none of them lie side by side. Thread-safe.
bool search_index(const LevelTable& level, const ExpressionProgram& program, Aggregate aggregate, DType compute,
                  std::span<const LabelView> operands, std::vector<Loop> loops, const StreamOffsets& begin,
                  const MutableLabelView& accumulator, bool first);

}  // namespace eindb
