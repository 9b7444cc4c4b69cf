#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_budget.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The best of `start` and many greedy paths with random noise and weights. Where the plain rule goes wrong early,
/// another beginning may gain orders of magnitude. Deterministic: seeds are fixed.
ResultPairs random_greedy_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                                const SearchContext& context = {});

}  // namespace eindb
