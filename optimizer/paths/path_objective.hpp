#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "optimizer/paths/contraction_path.hpp"

namespace eindb {

/// Flops that a core computes while one element moves between memory and a kernel: measured 145 GFLOP/s of FLOAT32 (69
/// of FLOAT64) beside copies at 27 GB/s. So Mix approximates the time of a path. A step with fewer flops per element,
/// such as a matrix times a vector, is bound by memory, and counting its flops alone makes it look too cheap.
inline constexpr double kFlopsPerElement = 20;

/// The quantity that a path minimises (SET path_objective, USING PATH ... WITH WEIGHT).
struct PathObjective {
  bool by_size = false;  ///< the largest intermediate is compared first
  double weight = 0;     ///< the price of an element that a step reads or writes, in flops; 0 where by_size

  static const PathObjective Flops;  ///< fewest operations
  static const PathObjective Size;   ///< smallest largest intermediate; of those, fewest operations
  static const PathObjective Mix;    ///< least time: operations, and elements at kFlopsPerElement each

  bool operator==(const PathObjective&) const = default;
};

inline constexpr PathObjective PathObjective::Flops{};
inline constexpr PathObjective PathObjective::Size{.by_size = true};
inline constexpr PathObjective PathObjective::Mix{.weight = kFlopsPerElement};

/// "flops", "size", "mix"; "weight 5" for another weight.
std::string name_of(const PathObjective& objective);
/// Case-insensitive, without weights. Throws Error{Value} with the names that exist.
PathObjective parse_path_objective(std::string_view name);

/// The quality of a path under an objective. Less is better; `largest` is compared before `work`.
struct PathValue {
  double largest = 0;  ///< elements; 0 unless the objective is by size
  double work = 0;     ///< flops, plus the price of the elements moved

  /// Costs are added up in different orders, so a difference within rounding does not count.
  bool is_less(const PathValue& other) const {
    constexpr double kRounding = 1 - 1e-9;
    if (largest < other.largest * kRounding) return true;
    return largest * kRounding <= other.largest && work < other.work * kRounding;
  }
};

PathValue value_of(const ContractionPath& path, const PathObjective& objective);

/// Searches minimise a sum over steps in place of the value: the flops of each step plus a price for each intermediate,
/// except the last result, which all paths share. Unless the objective is by size, the sum equals the value up to a
/// constant of the problem. By size, where the value is no sum, squared sizes let the few largest intermediates decide.
class IntermediatePrice {
 public:
  explicit IntermediatePrice(const PathObjective& objective)
      : linear_(2 * objective.weight),  // written once, read once
        square_(objective.by_size ? 1 : 0) {}

  double operator()(double size) const {
    const double bounded = std::min(size, kMost);
    return linear_ * size + square_ * bounded * bounded;
  }

 private:
  static constexpr double kMost = 1e140;  // the sum of a million squares stays finite

  double linear_;
  double square_;
};

/// The flops of all steps plus the price of all results except the last.
double priced_cost(const ContractionProblem& problem, const ResultPairs& pairs, const IntermediatePrice& price);

/// Limits for the paths that a dynamic program searches: on their cost (priced_cost) and on every intermediate.
struct PathBound {
  double cost = std::numeric_limits<double>::infinity();
  double size = std::numeric_limits<double>::infinity();

  /// Widened for rounding, so that a path as expensive as the bound is not lost.
  PathBound rounded_up() const { return {cost * (1 + 1e-9), size * (1 + 1e-9)}; }
};

}  // namespace eindb
