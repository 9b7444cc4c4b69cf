#pragma once

#include <span>

#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"

namespace eindb {

/// The labels of a batch of matrix products, as places in the labels that views have strides for.
struct MatrixLabels {
  std::vector<std::size_t> batch;
  std::vector<std::size_t> m;
  std::vector<std::size_t> n;
  std::vector<std::size_t> k;
};

/// c[batch, m, n] += factor * sum over k of a[batch, m, k] * b[batch, k, n], or = if `first`. Labels of size 1 may be
/// left out of `labels`; no size is 0. c is of type `compute`, FLOAT or COMPLEX, and has its elements side by side, in
/// any order of labels; a and b may be any views.
void multiply_matrices(const LevelTable& level, DType compute, double factor, const MatrixLabels& labels,
                       std::span<const std::int64_t> sizes, const LabelView& a, const LabelView& b,
                       const MutableLabelView& c, bool first);

}  // namespace eindb
