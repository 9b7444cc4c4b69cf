#pragma once

#include <span>
#include <string_view>

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
/// left out of `labels`; no size is 0. c is of type `compute`; all may be any views, with gaps too. INT64 wraps.
///
/// Four ways, by the sizes and by where the labels lie:
///  - strided_product: operands read where they lie, where one of them is small
///  - packed_product: panels for a register-blocked inner loop, packed from the views as they are
///  - vector_product: a matrix times a vector, at the speed of memory
///  - lane_product: matrices whose batch is contiguous, or small ones, one in each lane of the vectors
/// Sums of FLOAT32 are taken in FLOAT32 over at most some thousand terms at a time.
void multiply_matrices(const LevelTable& level, DType compute, double factor, const MatrixLabels& labels,
                       std::span<const std::int64_t> sizes, const LabelView& a, const LabelView& b,
                       const MutableLabelView& c, bool first);
/// The way taken: "packed", "in place", "by vector" or "in lanes".
std::string_view product_path(const LevelTable& level, DType compute, const MatrixLabels& labels,
                              std::span<const std::int64_t> sizes, const LabelView& a, const LabelView& b,
                              const MutableLabelView& c);
/// Bytes of workspace that such a product, or a smaller one, takes at most, whatever the strides; see Workspace::Bound.
std::size_t product_workspace_bytes(const LevelTable& level, DType compute, const MatrixLabels& labels,
                                    std::span<const std::int64_t> sizes);

}  // namespace eindb
