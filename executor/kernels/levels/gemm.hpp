#pragma once

#include <Eigen/Core>

#include "executor/kernels/level_table.hpp"

/// Matrix products on Eigen. Every product is brought to a column-major result, which leaves four cases to compile.
namespace eindb::EINDB_LEVEL {

template <class T, int kOrderA, int kOrderB>
void multiply_ordered(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t stride_a,
                      const T* b, std::int64_t stride_b, T* c, std::int64_t stride_c) {
  constexpr auto kDynamic = Eigen::Dynamic;
  using Stride = Eigen::OuterStride<>;
  using A = Eigen::Map<const Eigen::Matrix<T, kDynamic, kDynamic, kOrderA>, 0, Stride>;
  using B = Eigen::Map<const Eigen::Matrix<T, kDynamic, kDynamic, kOrderB>, 0, Stride>;
  using C = Eigen::Map<Eigen::Matrix<T, kDynamic, kDynamic, Eigen::ColMajor>, 0, Stride>;
  C(c, m, n, Stride(stride_c)).noalias() += alpha * A(a, m, k, Stride(stride_a)) * B(b, k, n, Stride(stride_b));
}

template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha, ConstMatrixView a, ConstMatrixView b,
          MatrixView c) {
  if (c.row_stride != 1) {
    // Row-major: the transposed product has a column-major result.
    const auto flip = [](auto view) { return decltype(view){view.data, view.column_stride, view.row_stride}; };
    gemm<T>(n, m, k, alpha, flip(b), flip(a), flip(c));
    return;
  }
  const auto factor = *static_cast<const T*>(alpha);
  const auto* x = static_cast<const T*>(a.data);
  const auto* y = static_cast<const T*>(b.data);
  auto* z = static_cast<T*>(c.data);
  constexpr int kColumn = Eigen::ColMajor;
  constexpr int kRow = Eigen::RowMajor;
  const bool column_a = a.row_stride == 1;
  const bool column_b = b.row_stride == 1;
  const auto sa = column_a ? a.column_stride : a.row_stride;
  const auto sb = column_b ? b.column_stride : b.row_stride;
  const auto sc = c.column_stride;
  if (column_a && column_b) multiply_ordered<T, kColumn, kColumn>(m, n, k, factor, x, sa, y, sb, z, sc);
  else if (column_a) multiply_ordered<T, kColumn, kRow>(m, n, k, factor, x, sa, y, sb, z, sc);
  else if (column_b) multiply_ordered<T, kRow, kColumn>(m, n, k, factor, x, sa, y, sb, z, sc);
  else multiply_ordered<T, kRow, kRow>(m, n, k, factor, x, sa, y, sb, z, sc);
}

}  // namespace eindb::EINDB_LEVEL
