#pragma once

#include <cstdint>

#include "executor/kernels/level_table.hpp"

namespace eindb {

/// A real matrix somewhere in memory, with any strides, in elements. It owns nothing.
struct MatrixRef {
  double* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;

  double& operator()(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
  MatrixRef block(std::int64_t row, std::int64_t column, std::int64_t row_count, std::int64_t column_count) const {
    return {data + row * row_stride + column * column_stride, row_count, column_count, row_stride, column_stride};
  }
  MatrixRef transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

/// A matrix of contiguous rows.
inline MatrixRef row_major(double* data, std::int64_t rows, std::int64_t columns) {
  return {data, rows, columns, columns, 1};
}

void fill(const MatrixRef& to, double value);
/// to = from, of the same size.
void copy(const MatrixRef& to, const MatrixRef& from);

/// c = factor * a * b if `first`, and otherwise c += factor * a * b; the sizes match, c overlaps neither operand, and
/// each size may be 0. Parts of a large result are computed on the threads that are lent to the call
/// (executor/kernels/lent_threads); the parts depend on the sizes alone, and so does the result.
void multiply(const LevelTable& level, double factor, const MatrixRef& a, const MatrixRef& b, const MatrixRef& c,
              bool first);

}  // namespace eindb
