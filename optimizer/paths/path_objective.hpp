#pragma once

#include <algorithm>
#include <limits>
#include <string_view>

#include "optimizer/paths/contraction_path.hpp"

namespace eindb {

/// The quantity that a path minimises (SET path_objective).
enum class PathObjective {
  Flops,  ///< fewest operations
  Size,   ///< smallest largest intermediate; of those, fewest operations
  Mix,    ///< least time: operations, and elements read and written at kFlopsPerElement each
};

/// "flops", "size", "mix".
std::string_view name_of(PathObjective objective);
/// Case-insensitive. Throws Error{Value} with the names that exist.
PathObjective parse_path_objective(std::string_view name);

/// What a core computes while it moves one element between memory and a kernel: measured 145 GFLOP/s of FLOAT32 (69 of
/// FLOAT64) beside copies of 27 GB/s. So Mix is about the time of a path: a step that does less per element than this,
/// such as a product of a matrix with a vector, waits for memory, and counting its operations alone flatters it.
inline constexpr double kFlopsPerElement = 20;

/// How good a path is under an objective; less is better, `largest` before `work`.
struct PathValue {
  double largest = 0;  ///< elements; 0 where the objective does not ask
  double work = 0;     ///< flops, with Mix those that moving elements stands for too

  /// Costs are added up in different orders: what is less by rounding alone is not less.
  bool is_less(const PathValue& other) const {
    constexpr double kRounding = 1 - 1e-9;
    if (largest < other.largest * kRounding) return true;
    return largest * kRounding <= other.largest && work < other.work * kRounding;
  }
};

PathValue value_of(const ContractionPath& path, PathObjective objective);

/// What searches add up step by step in place of the value: the flops of all steps, and a price on each intermediate
/// (not on the last result, which every path has). Under Flops and Mix the sum is the value, up to a constant of the
/// problem. Under Size, where the value is no sum, squares let the largest few intermediates decide.
class IntermediatePrice {
 public:
  explicit IntermediatePrice(PathObjective objective)
      : linear_(objective == PathObjective::Mix ? 2 * kFlopsPerElement : 0),  // written once, read once
        square_(objective == PathObjective::Size ? 1 : 0) {}

  double operator()(double size) const {
    const double bounded = std::min(size, kMost);
    return linear_ * size + square_ * bounded * bounded;
  }

 private:
  static constexpr double kMost = 1e140;  // the sum of the squares of a million such is finite

  double linear_;
  double square_;
};

/// Flops of all steps and the price of all results but the last.
double priced_cost(const ContractionProblem& problem, const ResultPairs& pairs, const IntermediatePrice& price);

/// The paths that a dynamic program looks for: of at most this cost (priced_cost), no intermediate larger than this.
struct PathBound {
  double cost = std::numeric_limits<double>::infinity();
  double size = std::numeric_limits<double>::infinity();

  /// Sums and products are rounded: a path as dear as the bound must not be lost to that.
  PathBound rounded_up() const { return {cost * (1 + 1e-9), size * (1 + 1e-9)}; }
};

}  // namespace eindb
