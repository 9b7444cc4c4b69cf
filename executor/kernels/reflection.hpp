#pragma once

#include <cmath>

namespace eindb {

/// A Householder reflection I - tau (1, v) (1, v)^T with v = scale * x, which maps (alpha, x) to (beta, 0).
struct Reflection {
  double beta = 0;
  double tau = 0;
  double scale = 0;
};

/// `squares` is the sum of the squares of x. A vector whose squares add up to less than 1e-280 counts as zero, as sums
/// of squares that underflow are not precise: it is given only where it is negligible beside others.
inline Reflection reflection_of(double alpha, double squares) {
  constexpr double kNegligible = 1e-280;
  const auto all = alpha * alpha + squares;
  if (squares == 0 || all < kNegligible) return {.beta = alpha, .tau = 0, .scale = 0};
  const auto beta = -std::copysign(std::sqrt(all), alpha);
  return {.beta = beta, .tau = (beta - alpha) / beta, .scale = 1 / (alpha - beta)};
}

}  // namespace eindb
