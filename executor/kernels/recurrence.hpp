#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/kernels/label_view.hpp"
#include "executor/kernels/user_recurrence.hpp"
#include "tensor/block_function.hpp"

namespace eindb {

/// The labels of a recurrence, as places among the labels of its EinSum.
struct RecurrenceLabels {
  std::size_t read;     ///< along which the operands are read; an operand may lack it
  std::size_t written;  ///< along which the result is
  std::vector<std::size_t> batch;
};

/// Computes a recurrence (tensor/block_function): of all values x and a of one type, that of the result, in time
/// proportional to the cells of the result. Vectors that lie side by side are computed together. `sizes`: of all
/// labels. `user` computes that of a user's aggregate, and is null for all others. Thread-safe, but for `user`.
void run_recurrence(const BlockFunction& function, const LabelView& x, const LabelView& a,
                    const MutableLabelView& result, const RecurrenceLabels& labels, std::span<const std::int64_t> sizes,
                    UserRecurrence* user = nullptr);

}  // namespace eindb
