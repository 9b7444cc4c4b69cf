#pragma once

#include <optional>

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The most operands whose subsets are searched without being asked for: 3^n / 2 splits, tens of milliseconds.
inline constexpr std::size_t kMostForAllSubsets = 15;
/// The most where a path is wanted whatever it takes: half a second.
inline constexpr std::size_t kMostForAllSubsetsInTime = 18;

/// The path of least cost among all binary trees, outer products included, by dynamic programming over all subsets:
///
///     best(S) = price(S) + min over S1 u S2 = S of best(S1) + best(S2) + flops(S1, S2)
///
/// where price(S) is the price of the result of S, and 0 for the last result. Only paths within `bound` are searched: a
/// subset is dropped if its own cost, or that of reading its result, exceeds the bound. nullopt if no path is within
/// it.
std::optional<ResultPairs> best_over_all_subsets(const ContractionProblem& problem, const IntermediatePrice& price,
                                                 const PathBound& bound, const SearchContext& context = {});

/// The least possible largest intermediate over all binary trees, in elements, the last result included; 0 if there is
/// no step. `known` is the largest intermediate of any known path; larger ones are not examined.
double least_largest_over_all_subsets(const ContractionProblem& problem, double known,
                                      const SearchContext& context = {});

}  // namespace eindb
