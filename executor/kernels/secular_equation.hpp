#pragma once

#include <cstdint>

#include "executor/kernels/level_table.hpp"

namespace eindb {

/// The places where the eigenvalues of a diagonal matrix go when a matrix of rank one is added to it: the roots x of
///
///     1 + sum over j of weight(j) / (pole(j) - x) = 0
///
/// for ascending poles and positive weights. Root i lies between pole i and the next one; the last one behind the last
/// pole. Each is computed as its distance from the nearer pole, so that all its distances from poles have a small
/// relative error (Gu and Eisenstat, 1995).
class SecularEquation {
 public:
  struct Root {
    std::int64_t pole = 0;  ///< the number of the nearer pole
    double offset = 0;      ///< from it
  };

  /// `weights`, of `count` elements, must outlive this.
  SecularEquation(const LevelTable& level, const double* weights, std::int64_t count);

  /// The root between pole i and the next one. distance(j, n) is pole(j) - pole(n), with a small relative error.
  /// Afterwards distances[j] is pole(j) less the root, for all poles.
  template <class Distance>
  Root find(std::int64_t i, const Distance& distance, double* distances) const {
    Root root{i, 0};
    for (std::int64_t j = 0; j < count_; ++j) distances[j] = distance(j, i);
    if (i + 1 < count_ && !is_before_middle(i, distances)) {
      root.pole = i + 1;
      for (std::int64_t j = 0; j < count_; ++j) distances[j] = distance(j, i + 1);
    }
    root.offset = solve(i, root.pole, distances);
    for (std::int64_t j = 0; j < count_; ++j) distances[j] -= root.offset;
    return root;
  }

 private:
  struct Value {
    double below = 0;  // the terms of the poles below the root, all negative
    double above = 0;
    double below_slope = 0;
    double above_slope = 0;

    double value() const { return 1 + below + above; }
  };

  Value at(std::int64_t i, const double* poles, double x) const;
  bool is_before_middle(std::int64_t i, const double* poles) const;
  double solve(std::int64_t i, std::int64_t pole, const double* poles) const;

  const FactorTable& table_;
  const double* weights_;
  std::int64_t count_;
  double sum_ = 0;  // of all weights
};

}  // namespace eindb
