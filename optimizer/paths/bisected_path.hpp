#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_budget.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The path that bisects the network where the fewest labels connect its parts (optimizer/paths/bisection), then
/// bisects each part, and so on down to a few operands, which are contracted in the best order. The last step joins the
/// two parts:
///
///     path(N) = path(part 0), path(part 1), join
///
/// Greedy grows a path from single operands and meets most of the cost at the end, when no choices are left. Bisection
/// decides the last step first, and is far better on lattices and random graphs of hundreds of operands. Deterministic.
/// `work` grows by the number of labels looked at.
ResultPairs bisected_pairs(const ContractionProblem& problem, double imbalance, std::uint64_t seed, std::uint64_t& work,
                           const SearchContext& context = {});

/// The best of `start` and many such paths with random imbalances.
ResultPairs best_bisected_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                                const SearchContext& context = {});

}  // namespace eindb
