#pragma once

#include <optional>

#include "optimizer/contraction_path.hpp"

namespace eindb {

/// Operands that best_over_all_subsets takes: 3^n / 2 splits, tens of milliseconds.
inline constexpr std::size_t kMostForAllSubsets = 15;

/// The path of fewest flops among all binary trees, outer products included, by dynamic programming over all subsets:
///
///     best(S) = min over S1 u S2 = S of best(S1) + best(S2) + flops(S1, S2)
///
/// Only paths of at most `bound` flops are looked for: what costs more by itself, or makes a result that costs more to
/// read, is left out. Nothing if there is no such path. No operand has more than 2^63 elements.
std::optional<ResultPairs> best_over_all_subsets(const ContractionProblem& problem, double bound);

}  // namespace eindb
