#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_budget.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The path that cuts the network in two where the labels between the parts are fewest (optimizer/paths/bisection),
/// each part again, and so on down to a few operands, which are contracted in the best order. The last step joins the
/// two parts:
///
///     path(N) = path(part 0), path(part 1), join
///
/// Greedy grows a path from single operands and meets the bulk of the cost at the end, when nothing can be chosen any
/// more; this looks at the end first, and is far better on lattices and random graphs of hundreds of operands.
/// Deterministic. `work` grows by the labels looked at.
ResultPairs bisected_pairs(const ContractionProblem& problem, double imbalance, std::uint64_t seed, std::uint64_t& work,
                           const SearchContext& context = {});

/// The best of many such paths, with imbalances drawn at random, and of `start`.
ResultPairs best_bisected_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                                const SearchContext& context = {});

}  // namespace eindb
