#include "executor/kernels/blocked_qr.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/lent_threads.hpp"

namespace eindb {
namespace {

constexpr auto kQrBlock = kReflectorColumns;
constexpr std::int64_t kStepsOfMoves = 16;  // of values, in a step that is counted for cancellation

}  // namespace

BlockedQr::BlockedQr(const LevelTable& level, const MatrixRef& a)
    : level_(level), a_(a), count_(std::min(a.rows, a.columns)) {
  triangles_.resize(static_cast<std::size_t>(count_ * kQrBlock));
  corners_.resize(static_cast<std::size_t>(count_ * kQrBlock));
  if (count_ > 0) factor(0);
  for (std::int64_t begin = 0; begin < count_; begin += kQrBlock) {
    const auto block = reflector(begin);
    const auto next = begin + block.v.columns;
    const auto of_next = std::min(kQrBlock, a_.columns - next);
    const auto others = a_.columns - next - of_next;
    const auto parts = others <= 0 ? 0 : (others + kAppliedColumns - 1) / kAppliedColumns;
    for_each_part(of_next > 0 ? 1 + parts : 0, 4 * block.v.rows * block.v.columns * (of_next + others),
                  [&](std::int64_t part) {
                    const auto first = part == 0 ? next : next + of_next + others * (part - 1) / parts;
                    const auto last = part == 0 ? next + of_next : next + of_next + others * part / parts;
                    std::vector<double> room(static_cast<std::size_t>(2 * block.v.columns * (last - first)));
                    eindb::apply(level_, block, true, a_.block(begin, first, block.v.rows, last - first), room.data());
                    if (part == 0 && next < count_) factor(next);
                  });
  }
}

BlockReflector BlockedQr::reflector(std::int64_t begin) const {
  const auto columns = std::min(kQrBlock, count_ - begin);
  return {a_.block(begin, begin, a_.rows - begin, columns),
          row_major(triangles_.data() + begin * kQrBlock, columns, columns)};
}

// The block from column `begin` on, to which all earlier ones have been applied.
void BlockedQr::factor(std::int64_t begin) {
  const auto block = reflector(begin);
  const auto rows = block.v.rows;
  const auto columns = block.v.columns;
  std::vector<double> strip(static_cast<std::size_t>(rows * kStripColumns));
  std::vector<double> room(static_cast<std::size_t>(2 * columns * columns));
  auto* corner = corners_.data() + begin * kQrBlock;
  for (std::int64_t first = 0; first < columns; first += kStripColumns) {
    factor_strip(block, begin, first, strip);
    const auto width = std::min(kStripColumns, columns - first);
    const auto behind = columns - first - width;
    const BlockReflector reflections{block.v.block(first, first, rows - first, width),
                                     block.t.block(first, first, width, width)};
    complete(level_, reflections, row_major(room.data(), width, width));
    if (behind > 0) {
      const auto rest = block.v.block(first, first + width, rows - first, behind);
      eindb::apply(level_, reflections, true, rest, room.data());
      // Rows that are final go to the corner, as v has zeros there.
      const auto final_rows = rest.block(0, 0, width, behind);
      copy(row_major(corner, columns, columns).block(first, first + width, width, behind), final_rows);
      fill(final_rows, 0);
    }
    if (first == 0) continue;
    // The t of both: the product of the two on its diagonal and of what the reflections have in common between them.
    const auto common = row_major(room.data(), first, width);
    const auto half = row_major(room.data() + columns * columns, first, width);
    multiply(level_, 1, block.v.block(first, 0, rows - first, first).transposed(), reflections.v, common, true);
    multiply(level_, 1, block.t.block(0, 0, first, first), common, half, true);
    multiply(level_, -1, half, reflections.t, block.t.block(0, first, first, width), true);
  }
  poll_cancellation_after(static_cast<std::size_t>(rows * columns * kQrBlock / kStepsOfMoves));
}

// Factorises the columns from `first` on, and leaves v in them, R in the corner and the factors tau on t's diagonal.
void BlockedQr::factor_strip(const BlockReflector& block, std::int64_t begin, std::int64_t first,
                             std::vector<double>& strip) {
  const auto columns = block.v.columns;
  const auto width = std::min(kStripColumns, columns - first);
  const auto rows = block.v.rows - first;
  const auto values = block.v.block(first, first, rows, width);
  for (std::int64_t i = 0; i < rows; ++i) {
    auto* to = strip.data() + i * kStripColumns;
    std::copy_n(&values(i, 0), width, to);
    std::fill(to + width, to + kStripColumns, 0.0);
  }
  double taus[kStripColumns];
  level_.factors.factor_strip(strip.data(), rows, width, taus);
  const auto corner = row_major(corners_.data() + begin * kQrBlock, columns, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto* from = strip.data() + i * kStripColumns;
    const auto reflected = std::min(i, width);
    std::copy_n(from, reflected, &values(i, 0));
    if (i >= width) continue;
    std::copy(from + i, from + width, &corner(first + i, first + i));
    values(i, i) = 1;
    std::fill(&values(i, 0) + i + 1, &values(i, 0) + width, 0.0);
    block.t(first + i, first + i) = taus[i];
  }
}

double BlockedQr::r(std::int64_t row, std::int64_t column) const {
  DCHECK(row <= column && row < count_, "R is upper triangular");
  const auto begin = row / kQrBlock * kQrBlock;
  const auto columns = std::min(kQrBlock, count_ - begin);
  if (column >= begin + columns) return a_(row, column);
  return corners_[static_cast<std::size_t>(begin * kQrBlock + (row - begin) * columns + column - begin)];
}

void BlockedQr::apply(const MatrixRef& c) const {
  CHECK(c.rows == a_.rows, "Q is applied to matrices of its rows");
  for (auto begin = (count_ - 1) / kQrBlock * kQrBlock; begin >= 0 && count_ > 0; begin -= kQrBlock) {
    const auto block = reflector(begin);
    apply_in_parts(level_, block, false, c.block(begin, 0, block.v.rows, c.columns));
    poll_cancellation_after(static_cast<std::size_t>(block.v.rows * c.columns));
  }
}

// From the last block on, so that each one finds zeros in its rows and columns but for a diagonal of ones:
//
//     1 0 0        Q(block) of the columns behind it is -v t v^T of what is below, and of its own the first columns of
//     0 q q        I - v t v^T.
//     0 q q
void BlockedQr::form_q(const MatrixRef& q) const {
  CHECK(q.rows == a_.rows && q.columns == count_, "Q has a column for each reflection");
  fill(q, 0);
  for (std::int64_t n = 0; n < count_; ++n) q(n, n) = 1;
  for (auto begin = (count_ - 1) / kQrBlock * kQrBlock; begin >= 0 && count_ > 0; begin -= kQrBlock) {
    const auto block = reflector(begin);
    apply_in_parts(level_, block, false, q.block(begin, begin, block.v.rows, count_ - begin));
    poll_cancellation_after(static_cast<std::size_t>(block.v.rows * (count_ - begin)));
  }
}

}  // namespace eindb
