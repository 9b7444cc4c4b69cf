#pragma once

#include <span>
#include <vector>

#include "executor/kernels/label_view.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {

/// Running sums, products and extremes along a label: one pass over the cells of the operand instead of one over all
/// pairs of a cell and a later one. Of a range of the label that lies before that of the result, the aggregate of all
/// its cells is taken in.
///
/// Immutable, thread-safe.
class ScanKernel {
 public:
  ScanKernel(const ScanForm& form, const EinSum& einsum, DType compute);

  /// See Kernel::run.
  void run(const LabelView& operand, std::span<const PartRange> ranges, const MutableLabelView& accumulator,
           bool first) const;
  /// Whether a call on these ranges adds nothing but zeros: it sums up cells that come later.
  bool is_empty(std::span<const PartRange> ranges) const;

 private:
  template <class T, class Combine>
  class Call;
  template <class T>
  void dispatch_aggregate(const LabelView& operand, std::span<const PartRange> ranges,
                          const MutableLabelView& accumulator, bool first) const;

  ScanForm form_;
  Aggregate aggregate_;
  DType compute_;
  std::size_t along_;  // the places of the two labels
  std::size_t upto_;
};

}  // namespace eindb
