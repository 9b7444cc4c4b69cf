#include "executor/kernels/matrix_ref.hpp"

#include <algorithm>
#include <array>

#include "common/check.hpp"
#include "executor/kernels/lent_threads.hpp"
#include "executor/kernels/matrix_product.hpp"

namespace eindb {
namespace {

// Products with fewer operations are loops: the choice of a way takes as long.
constexpr std::int64_t kOperationsOfLoops = 1500;
// A part of a product for one thread has at least so many operations, and about so many rows or columns.
constexpr std::int64_t kOperationsOfPart = 1 << 20;
constexpr std::int64_t kSideOfPart = 192;

void multiply_by_loops(double factor, const MatrixRef& a, const MatrixRef& b, const MatrixRef& c, bool first) {
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.columns; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < a.columns; ++p) sum += a(i, p) * b(p, j);
      c(i, j) = first ? factor * sum : c(i, j) + factor * sum;
    }
  }
}

void multiply_part(const LevelTable& level, double factor, const MatrixRef& a, const MatrixRef& b, const MatrixRef& c,
                   bool first) {
  static const MatrixLabels labels{.batch = {}, .m = {0}, .n = {1}, .k = {2}};
  const std::array sizes{c.rows, c.columns, a.columns};
  multiply_matrices(level, DType::Float64, factor, labels, sizes,
                    {DType::Float64, a.data, {a.row_stride, 0, a.column_stride}},
                    {DType::Float64, b.data, {0, b.column_stride, b.row_stride}},
                    {DType::Float64, c.data, {c.row_stride, c.column_stride, 0}}, first);
}

}  // namespace

void fill(const MatrixRef& to, double value) {
  for (std::int64_t i = 0; i < to.rows; ++i)
    for (std::int64_t j = 0; j < to.columns; ++j) to(i, j) = value;
}

void copy(const MatrixRef& to, const MatrixRef& from) {
  CHECK(to.rows == from.rows && to.columns == from.columns, "a copy has the size of what it is of");
  constexpr std::int64_t kSide = 16;  // of squares, since one of them may be transposed
  for (std::int64_t i0 = 0; i0 < to.rows; i0 += kSide)
    for (std::int64_t j0 = 0; j0 < to.columns; j0 += kSide)
      for (auto i = i0; i < std::min(i0 + kSide, to.rows); ++i)
        for (auto j = j0; j < std::min(j0 + kSide, to.columns); ++j) to(i, j) = from(i, j);
}

void multiply(const LevelTable& level, double factor, const MatrixRef& a, const MatrixRef& b, const MatrixRef& c,
              bool first) {
  CHECK(a.rows == c.rows && b.columns == c.columns && a.columns == b.rows, "the sizes of a product's matrices match");
  if (c.rows == 0 || c.columns == 0) return;
  if (a.columns == 0) {
    if (first) fill(c, 0);
    return;
  }
  const auto operations = c.rows * c.columns * a.columns;
  if (operations < kOperationsOfLoops) return multiply_by_loops(factor, a, b, c, first);
  const bool by_rows = c.rows > c.columns;
  const auto side = by_rows ? c.rows : c.columns;
  const auto parts = std::min((side + kSideOfPart - 1) / kSideOfPart, operations / kOperationsOfPart);
  if (parts < 2) return multiply_part(level, factor, a, b, c, first);
  for_each_part(parts, 2 * operations, [&](std::int64_t part) {
    const auto begin = side * part / parts;
    const auto count = side * (part + 1) / parts - begin;
    if (by_rows)
      multiply_part(level, factor, a.block(begin, 0, count, a.columns), b, c.block(begin, 0, count, c.columns), first);
    else multiply_part(level, factor, a, b.block(0, begin, b.rows, count), c.block(0, begin, c.rows, count), first);
  });
}

}  // namespace eindb
