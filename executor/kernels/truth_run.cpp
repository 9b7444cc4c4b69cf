#include "executor/kernels/truth_run.hpp"

#include <algorithm>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kWordBits = 64;          // of a word
constexpr std::int64_t kTruthDepth = 64 * 128;  // of packed rows: a panel of each operand fits the first-level cache
constexpr std::int64_t kRowsPacked = 512;       // of the left operand at a time
constexpr std::int64_t kColumnsPacked = 1024;   // of the right operand

std::int64_t in_panels(std::int64_t rows, std::int64_t width) { return ceil_divide(rows, width) * width; }

}  // namespace

TruthRun::TruthRun(const LevelTable& level, DType compute, PairFunction function, Aggregate aggregate,
                   const PairMatrices& matrices)
    : level_(level),
      table_(level.of(compute)),
      inverts_(function == PairFunction::Or),
      aggregate_(aggregate),
      matrices_(matrices),
      element_(static_cast<std::int64_t>(size_of(compute))) {
  CHECK(packs_truths(function, aggregate), "bits are counted, or found, for AND and OR");
}

void TruthRun::run(const LabelView& a, const LabelView& b, const MutableLabelView& c, bool first) const {
  const auto left = matrices_.left(a);
  const auto right = matrices_.right(b);
  const auto result = matrices_.result(c, first);
  constexpr auto kWordBytes = static_cast<std::int64_t>(sizeof(std::uint64_t));
  const Scratch left_bits(static_cast<std::size_t>(words_of_left() * kWordBytes));
  const Scratch right_bits(static_cast<std::size_t>(words_of_right() * kWordBytes));
  for (std::int64_t n = 0; n < matrices_.batch(); ++n)
    multiply(left, right, result, n, reinterpret_cast<std::uint64_t*>(left_bits.data()),
             reinterpret_cast<std::uint64_t*>(right_bits.data()), first);
  matrices_.write_result(c, result);
}

std::int64_t TruthRun::panel_bytes() const {
  return (words_of_left() + words_of_right()) * static_cast<std::int64_t>(sizeof(std::uint64_t));
}

std::int64_t TruthRun::words_of_left() const {
  return in_panels(std::min(matrices_.rows(), kRowsPacked), table_.truth_rows) *
         ceil_divide(std::min(matrices_.depth(), kTruthDepth), kWordBits);
}

std::int64_t TruthRun::words_of_right() const {
  return in_panels(std::min(matrices_.columns(), kColumnsPacked), table_.truth_columns) *
         ceil_divide(std::min(matrices_.depth(), kTruthDepth), kWordBits);
}

void TruthRun::multiply(const PairMatrix& a, const PairMatrix& b, const PairMatrix& c, std::int64_t batch,
                        std::uint64_t* left_bits, std::uint64_t* right_bits, bool first) const {
  const auto* left = matrices_.at(a, batch);
  const auto* right = matrices_.at(b, batch);
  auto* out = matrices_.at(c, batch);
  const auto flip = inverts_ ? ~std::uint64_t{0} : std::uint64_t{0};
  const auto pack = [&](const PairMatrix& matrix, const std::byte* data, std::int64_t row, std::int64_t rows,
                        std::int64_t p, std::int64_t depth, std::int64_t width, std::uint64_t* to) {
    const auto* from =
        data + (row * matrix.row_stride + p * matrix.column_stride) * static_cast<std::int64_t>(size_of(matrix.dtype));
    level_.of(matrix.dtype).pack_truths({from, matrix.row_stride, matrix.column_stride}, rows, depth, flip, width, to);
  };
  for (std::int64_t p = 0; p < matrices_.depth(); p += kTruthDepth) {
    const auto depth = std::min(kTruthDepth, matrices_.depth() - p);
    for (std::int64_t column = 0; column < matrices_.columns(); column += kColumnsPacked) {
      const auto columns = std::min(kColumnsPacked, matrices_.columns() - column);
      pack(b, right, column, columns, p, depth, table_.truth_columns, right_bits);
      for (std::int64_t row = 0; row < matrices_.rows(); row += kRowsPacked) {
        const auto rows = std::min(kRowsPacked, matrices_.rows() - row);
        pack(a, left, row, rows, p, depth, table_.truth_rows, left_bits);
        auto* corner = out + (row * c.row_stride + column * c.column_stride) * element_;
        blocks(left_bits, right_bits, {corner, c.row_stride, c.column_stride}, rows, columns, depth, first && p == 0);
      }
    }
  }
}

void TruthRun::blocks(const std::uint64_t* left, const std::uint64_t* right, MatrixView c, std::int64_t rows,
                      std::int64_t columns, std::int64_t depth, bool first) const {
  const auto words = ceil_divide(depth, kWordBits);
  const auto run = table_.truth[slot_of(aggregate_)];
  const std::int64_t counted = aggregate_ == Aggregate::Sum ? depth : 1;
  const std::int64_t total = inverts_ ? counted : -1;
  for (std::int64_t s = 0; s < columns; s += table_.truth_columns) {
    poll_cancellation();
    for (std::int64_t r = 0; r < rows; r += table_.truth_rows)
      run(left + r * words, right + s * words, words, total,
          {static_cast<std::byte*>(c.data) + (r * c.row_stride + s * c.column_stride) * element_, c.row_stride,
           c.column_stride},
          std::min(table_.truth_rows, rows - r), std::min(table_.truth_columns, columns - s), first);
  }
}

}  // namespace eindb
