#include "executor/kernels/bidiagonal_form.hpp"

#include <algorithm>
#include <array>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/lent_threads.hpp"
#include "executor/kernels/reflection.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kColumnsOfBlock = 32;
// Elements of the matrix that a thread multiplies by a vector, at least: less is done sooner than another one comes.
constexpr std::int64_t kElementsOfPart = 1 << 15;
constexpr std::int64_t kPartsOfMatrix = 4;
constexpr std::int64_t kOperationsOfElement = 8;  // that take as long as an element comes from memory

}  // namespace

// The reflections of one block, and what they add to the matrix. Rows of left_ are V and X in turns, those of right_
// are Y and U, all of them as long as the block's part of the matrix is high and wide:
//
//     A - V Y^T - X U^T = A - left_^T right_, row by row
class BidiagonalForm::Block {
 public:
  Block(const LevelTable& level, const MatrixRef& a)
      : vectors_(level.of(DType::Float64).vectors),
        a_(a),
        columns_(std::min(kColumnsOfBlock, a.columns)),
        left_(static_cast<std::size_t>(2 * columns_ * a.rows)),
        right_(static_cast<std::size_t>(2 * columns_ * a.columns)),
        partial_(static_cast<std::size_t>(kPartsOfMatrix * a.columns)),
        rows_(static_cast<std::size_t>(a.rows)) {
    for (std::int64_t i = 0; i < a.rows; ++i) rows_[static_cast<std::size_t>(i)] = &a(i, 0);
  }

  void reduce(double* diagonal, double* beside, double* left_taus, double* right_taus) {
    for (std::int64_t j = 0; j < columns_; ++j) {
      reflect_column(j, diagonal[j], left_taus[j]);
      if (j + 1 < a_.columns) reflect_row(j, beside[j], right_taus[j]);
    }
  }

  // Subtracts it all from the rest of the matrix.
  void update(const LevelTable& level) {
    const auto count = 2 * columns_;
    const auto left = row_major(left_.data(), count, a_.rows);
    const auto right = row_major(right_.data(), count, a_.columns);
    multiply(level, -1, left.block(0, columns_, count, a_.rows - columns_).transposed(),
             right.block(0, columns_, count, a_.columns - columns_),
             a_.block(columns_, columns_, a_.rows - columns_, a_.columns - columns_), false);
  }

  std::int64_t columns() const { return columns_; }

 private:
  double* v(std::int64_t j) { return left_.data() + 2 * j * a_.rows; }
  double* x(std::int64_t j) { return left_.data() + (2 * j + 1) * a_.rows; }
  double* y(std::int64_t j) { return right_.data() + 2 * j * a_.columns; }
  double* u(std::int64_t j) { return right_.data() + (2 * j + 1) * a_.columns; }

  // to[n] -= sum over r < count of from(r)[n] * factors[r], for n < length; rows of `from` lie `stride` apart.
  void subtract_rows(double* to, const double* from, std::int64_t stride, std::int64_t count, double* factors,
                     std::int64_t length) const {
    if (count == 0 || length == 0) return;
    std::array<const void*, 2 * kColumnsOfBlock> rows{};
    for (std::int64_t r = 0; r < count; ++r) {
      rows[static_cast<std::size_t>(r)] = from + r * stride;
      factors[r] = -factors[r];
    }
    vectors_.add_rows(to, rows.data(), count, factors, length, false);
  }
  // sums[r] = sum over n < length of from(r)[n] * with[n]
  void dot_rows(double* sums, const double* from, std::int64_t stride, std::int64_t count, const double* with,
                std::int64_t length) const {
    std::array<const void*, 2 * kColumnsOfBlock> rows{};
    for (std::int64_t r = 0; r < count; ++r) rows[static_cast<std::size_t>(r)] = from + r * stride;
    std::fill_n(sums, count, 0.0);
    if (count > 0 && length > 0) vectors_.dot_rows(sums, rows.data(), count, with, length);
  }

  // The reflection of (from[0], from[1], ...), which it becomes, with its one.
  static double reflect(double* from, std::int64_t length, double& beta) {
    double squares = 0;
    for (std::int64_t n = 1; n < length; ++n) squares += from[n] * from[n];
    const auto reflection = reflection_of(from[0], squares);
    beta = reflection.beta;
    from[0] = 1;
    for (std::int64_t n = 1; n < length; ++n) from[n] *= reflection.scale;
    return reflection.tau;
  }

  void reflect_column(std::int64_t j, double& diagonal, double& tau) {
    const auto rows = a_.rows - j;
    auto* column = v(j);
    std::fill_n(column, j, 0.0);
    for (auto i = j; i < a_.rows; ++i) column[i] = a_(i, j);
    std::array<double, 2 * kColumnsOfBlock> factors{};
    for (std::int64_t r = 0; r < 2 * j; ++r)
      factors[static_cast<std::size_t>(r)] = right_[static_cast<std::size_t>(r * a_.columns + j)];
    subtract_rows(column + j, left_.data() + j, a_.rows, 2 * j, factors.data(), rows);
    tau = reflect(column + j, rows, diagonal);
    for (auto i = j + 1; i < a_.rows; ++i) a_(i, j) = column[i];
    // y = tau (A - left^T right)^T v, of the columns behind j.
    const auto behind = a_.columns - j - 1;
    auto* result = y(j);
    std::fill_n(result, j + 1, 0.0);
    if (behind == 0) return;
    multiply_transposed(result + j + 1, j, j + 1, column + j);
    dot_rows(factors.data(), left_.data() + j, a_.rows, 2 * j, column + j, rows);
    subtract_rows(result + j + 1, right_.data() + j + 1, a_.columns, 2 * j, factors.data(), behind);
    for (auto n = j + 1; n < a_.columns; ++n) result[n] *= tau;
  }

  void reflect_row(std::int64_t j, double& beside, double& tau) {
    const auto behind = a_.columns - j - 1;
    auto* row = u(j);
    std::fill_n(row, j + 1, 0.0);
    std::copy_n(&a_(j, j + 1), behind, row + j + 1);
    std::array<double, 2 * kColumnsOfBlock> factors{};
    // Row j of the left side, of which x(j) is not there yet.
    for (std::int64_t r = 0; r < 2 * j + 1; ++r)
      factors[static_cast<std::size_t>(r)] = left_[static_cast<std::size_t>(r * a_.rows + j)];
    subtract_rows(row + j + 1, right_.data() + j + 1, a_.columns, 2 * j + 1, factors.data(), behind);
    tau = reflect(row + j + 1, behind, beside);
    std::copy_n(row + j + 2, behind - 1, &a_(j, j + 1) + 1);
    // x = tau (A - left^T right) u, of the rows behind j.
    const auto below = a_.rows - j - 1;
    auto* result = x(j);
    std::fill_n(result, j + 1, 0.0);
    if (below == 0) return;
    multiply_rows(result + j + 1, j + 1, j + 1, row + j + 1);
    dot_rows(factors.data(), right_.data() + j + 1, a_.columns, 2 * j + 1, row + j + 1, behind);
    subtract_rows(result + j + 1, left_.data() + j + 1, a_.rows, 2 * j + 1, factors.data(), below);
    for (auto n = j + 1; n < a_.rows; ++n) result[n] *= tau;
  }

  std::int64_t parts_of(std::int64_t rows, std::int64_t columns) const {
    return std::clamp<std::int64_t>(rows * columns / kElementsOfPart, 1, kPartsOfMatrix);
  }
  std::vector<const void*> rows_from(std::int64_t column) const {
    std::vector<const void*> rows(rows_);
    for (auto& row : rows) row = static_cast<const double*>(row) + column;
    return rows;
  }

  // to = A[row.., column..]^T x
  void multiply_transposed(double* to, std::int64_t row, std::int64_t column, const double* with) {
    const auto columns = a_.columns - column;
    const auto all = a_.rows - row;
    const auto parts = parts_of(all, columns);
    const auto rows = rows_from(column);
    for_each_part(parts, kOperationsOfElement * all * columns, [&](std::int64_t part) {
      const auto begin = all * part / parts;
      auto* sums = part == 0 ? to : partial_.data() + part * a_.columns;
      vectors_.add_rows(sums, rows.data() + row + begin, all * (part + 1) / parts - begin, with + begin, columns, true);
    });
    for (std::int64_t part = 1; part < parts; ++part)
      for (std::int64_t n = 0; n < columns; ++n) to[n] += partial_[static_cast<std::size_t>(part * a_.columns + n)];
    poll_cancellation_after(static_cast<std::size_t>(all * columns / kColumnsOfBlock));
  }

  // to = A[row.., column..] x
  void multiply_rows(double* to, std::int64_t row, std::int64_t column, const double* with) {
    const auto columns = a_.columns - column;
    const auto all = a_.rows - row;
    const auto parts = parts_of(all, columns);
    const auto rows = rows_from(column);
    std::fill_n(to, all, 0.0);
    for_each_part(parts, kOperationsOfElement * all * columns, [&](std::int64_t part) {
      const auto begin = all * part / parts;
      vectors_.dot_rows(to + begin, rows.data() + row + begin, all * (part + 1) / parts - begin, with, columns);
    });
  }

  const VectorTable& vectors_;
  MatrixRef a_;
  std::int64_t columns_;
  std::vector<double> left_;
  std::vector<double> right_;
  std::vector<double> partial_;
  std::vector<const void*> rows_;
};

BidiagonalForm::BidiagonalForm(const LevelTable& level, const MatrixRef& a)
    : level_(level),
      a_(a),
      diagonal_(static_cast<std::size_t>(a.columns)),
      beside_(static_cast<std::size_t>(std::max<std::int64_t>(a.columns - 1, 0))),
      left_taus_(diagonal_.size()),
      right_taus_(beside_.size()) {
  CHECK(a.rows >= a.columns, "a matrix that becomes bidiagonal is not wide");
  for (std::int64_t begin = 0; begin < a.columns;) {
    Block block(level, a.block(begin, begin, a.rows - begin, a.columns - begin));
    block.reduce(diagonal_.data() + begin, beside_.data() + begin, left_taus_.data() + begin,
                 right_taus_.data() + begin);
    block.update(level);
    begin += block.columns();
  }
}

void BidiagonalForm::apply_left(const MatrixRef& c) const { apply(left_taus_, 0, a_, c); }

void BidiagonalForm::apply_right(const MatrixRef& c) const { apply(right_taus_, 1, a_.transposed(), c); }

// The reflections lie in the columns of `a`, their ones `offset` below the diagonal.
void BidiagonalForm::apply(const std::vector<double>& taus, std::int64_t offset, const MatrixRef& a,
                           const MatrixRef& c) const {
  const auto count = static_cast<std::int64_t>(taus.size());
  const auto most = std::min(kReflectorColumns, count);
  std::vector<double> room(static_cast<std::size_t>(most * (a.rows + 2 * most)));
  for (auto begin = (count - 1) / kReflectorColumns * kReflectorColumns; begin >= 0 && count > 0;
       begin -= kReflectorColumns) {
    const auto columns = std::min(kReflectorColumns, count - begin);
    const auto rows = a.rows - begin - offset;
    const auto t = row_major(room.data(), columns, columns);
    const auto gram = row_major(room.data() + columns * columns, columns, columns);
    const auto v = row_major(room.data() + 2 * columns * columns, rows, columns);
    copy(v, a.block(begin + offset, begin, rows, columns));
    for (std::int64_t j = 0; j < columns; ++j) {
      t(j, j) = taus[static_cast<std::size_t>(begin + j)];
      for (std::int64_t i = 0; i < j; ++i) v(i, j) = 0;
      v(j, j) = 1;
    }
    complete(level_, {v, t}, gram);
    apply_in_parts(level_, {v, t}, false, c.block(begin + offset, 0, rows, c.columns));
    poll_cancellation_after(static_cast<std::size_t>(rows * c.columns));
  }
}

}  // namespace eindb
