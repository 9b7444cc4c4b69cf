#pragma once

#include <optional>

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// Operands that best_over_all_subsets takes: 3^n / 2 splits, tens of milliseconds.
inline constexpr std::size_t kMostForAllSubsets = 15;

/// The path of least cost among all binary trees, outer products included, by dynamic programming over all subsets:
///
///     best(S) = price(S) + min over S1 u S2 = S of best(S1) + best(S2) + flops(S1, S2)
///
/// where price(S) is that of the result of S, and nothing for the last one. Only paths within `bound` are looked for:
/// what costs more by itself, or makes a result that costs more to read, is left out. Nothing if there is none.
std::optional<ResultPairs> best_over_all_subsets(const ContractionProblem& problem, const IntermediatePrice& price,
                                                 const PathBound& bound, const SearchContext& context = {});

/// The elements of the largest intermediate, the last result included, where that is least over all binary trees; 0 if
/// there is no step. `known` is that of any path: what is larger is left out.
double least_largest_over_all_subsets(const ContractionProblem& problem, double known,
                                      const SearchContext& context = {});

}  // namespace eindb
