#include "executor/kernels/block_reflector.hpp"

#include <vector>

#include "executor/kernels/lent_threads.hpp"

namespace eindb {

// t(0..j, j) = -tau(j) t(0..j, 0..j) v(0..j)^T v(j).
void complete(const LevelTable& level, const BlockReflector& reflector, const MatrixRef& gram) {
  const auto& [v, t] = reflector;
  multiply(level, 1, v.transposed(), v, gram, true);
  for (std::int64_t j = 0; j < t.columns; ++j) {
    const auto tau = t(j, j);
    for (std::int64_t i = 0; i < j; ++i) {
      double sum = 0;
      for (auto p = i; p < j; ++p) sum += t(i, p) * gram(p, j);
      t(i, j) = -tau * sum;
    }
    for (auto i = j + 1; i < t.rows; ++i) t(i, j) = 0;
  }
}

void apply(const LevelTable& level, const BlockReflector& reflector, bool transposed, const MatrixRef& c,
           double* room) {
  const auto& [v, t] = reflector;
  const auto first = row_major(room, v.columns, c.columns);
  const auto second = row_major(room + v.columns * c.columns, v.columns, c.columns);
  multiply(level, 1, v.transposed(), c, first, true);
  multiply(level, 1, transposed ? t.transposed() : t, first, second, true);
  multiply(level, -1, v, second, c, false);
}

void apply_in_parts(const LevelTable& level, const BlockReflector& reflector, bool transposed, const MatrixRef& c) {
  const auto parts = (c.columns + kAppliedColumns - 1) / kAppliedColumns;
  for_each_part(parts, 4 * c.rows * c.columns * reflector.v.columns, [&](std::int64_t part) {
    const auto begin = c.columns * part / parts;
    const auto count = c.columns * (part + 1) / parts - begin;
    std::vector<double> room(static_cast<std::size_t>(2 * reflector.v.columns * count));
    apply(level, reflector, transposed, c.block(0, begin, c.rows, count), room.data());
  });
}

}  // namespace eindb
