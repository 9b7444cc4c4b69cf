#include "executor/kernels/secular_equation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eindb {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMostSteps = 100;

// The step t from x to the root of r + s1 / (d1 - t) + s2 / (d2 - t), which has the value and the slopes of the two
// sums at x, with d1 and d2 the distances of the poles beside it. Not finite where there is none.
double step_between(double below, double below_slope, double d1, double above, double above_slope, double d2) {
  const auto s1 = below_slope * d1 * d1;
  const auto s2 = above_slope * d2 * d2;
  const auto c = 1 + below - below_slope * d1 + above - above_slope * d2;
  const auto a = c * (d1 + d2) + s1 + s2;
  const auto b = d1 * d2 * (1 + below + above);
  const auto root = std::sqrt(std::max(0.0, a * a - 4 * b * c));
  return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

}  // namespace

SecularEquation::SecularEquation(const LevelTable& level, const double* weights, std::int64_t count)
    : table_(level.factors), weights_(weights), count_(count) {
  for (std::int64_t j = 0; j < count; ++j) sum_ += weights[j];
}

SecularEquation::Value SecularEquation::at(std::int64_t i, const double* poles, double x) const {
  double below[2];
  double above[2];
  table_.add_pole_terms(poles, weights_, i + 1, x, below);
  table_.add_pole_terms(poles + i + 1, weights_ + i + 1, count_ - i - 1, x, above);
  return {below[0], above[0], below[1], above[1]};
}

// `poles` are relative to pole i.
bool SecularEquation::is_before_middle(std::int64_t i, const double* poles) const {
  return at(i, poles, poles[i + 1] / 2).value() >= 0;
}

// `poles` are relative to the nearer one. Terms grow with x, from minus to plus infinity.
double SecularEquation::solve(std::int64_t i, std::int64_t pole, const double* poles) const {
  const bool is_last = i + 1 == count_;
  auto low = is_last || pole == i ? 0.0 : poles[i] / 2;
  auto high = is_last ? sum_ : pole == i ? poles[i + 1] / 2 : 0.0;
  auto x = is_last ? sum_ : pole == i ? high : low;
  if (is_last) {
    // With the other poles' terms as they are at the upper bound, which are too great in size: x below the root.
    const auto all = at(i, poles, x);
    const auto rest = 1 + all.below + weights_[i] / x;
    if (rest > 0) x = std::min(x, weights_[i] / rest);
  }
  for (int n = 0; n < kMostSteps; ++n) {
    const auto now = at(i, poles, x);
    const auto value = now.value();
    const auto error = kEpsilon * (8 * (1 - now.below + now.above) + std::abs(x) * (now.below_slope + now.above_slope));
    if (std::abs(value) <= error) break;
    (value < 0 ? low : high) = x;
    const auto d1 = poles[i] - x;
    double step = 0;
    if (is_last) {
      const auto s1 = now.below_slope * d1 * d1;
      step = d1 + s1 / (1 + now.below - now.below_slope * d1);
    } else {
      step = step_between(now.below, now.below_slope, d1, now.above, now.above_slope, poles[i + 1] - x);
    }
    auto next = x + step;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next == x || next == low || next == high) break;
    x = next;
  }
  return x;
}

}  // namespace eindb
