#pragma once

#include <optional>
#include <span>
#include <vector>

#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/scan_lines.hpp"
#include "executor/kernels/user_fold.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {

/// Running aggregates along a label: one pass over the cells of the operand instead of one over all pairs of a cell and
/// a later one. Of a range of the label that lies before that of the result, the aggregate of all its cells is taken
/// in.
///
/// Immutable, thread-safe.
class ScanKernel {
 public:
  ScanKernel(const ScanForm& form, const EinSum& einsum, DType compute);

  /// See Kernel::run.
  void run(const LevelTable& level, const LabelView& operand, std::span<const PartRange> ranges,
           const MutableLabelView& accumulator, bool first) const;
  /// Whether a call on these ranges adds nothing but zeros: it sums up cells that come later.
  bool is_empty(std::span<const PartRange> ranges) const;

 private:
  template <class T, class Combine>
  class Call;
  template <class T>
  void dispatch_aggregate(const ScanLines& lines, bool first) const;
  ScanLines lines_of(const LabelView& operand, std::span<const PartRange> ranges, const MutableLabelView& output) const;

  ScanForm form_;
  Aggregate aggregate_;
  DType compute_;
  std::size_t along_;  // the places of the two labels
  std::size_t upto_;
  std::optional<UserFold> fold_;  // of a user's aggregate
};

}  // namespace eindb
