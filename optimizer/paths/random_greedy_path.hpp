#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_budget.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The best of many greedy paths with noise and with weights other than 1, drawn at random, and of `start`. Where the
/// plain rule goes wrong at first, another beginning may be worth orders of magnitude. Deterministic: seeds are fixed.
ResultPairs random_greedy_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                                const SearchContext& context = {});

}  // namespace eindb
