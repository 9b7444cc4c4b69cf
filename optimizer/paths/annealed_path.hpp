#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_budget.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// Simulated annealing on the contraction tree, starting from `start`. Rotations (optimizer/paths/contraction_tree) are
/// drawn at random and carried out if they lower the flops of the two steps that they change, otherwise with
/// probability (before / after)^beta, where beta grows over the budget (TreeSA: Kalachev, Panteleev, Yung,
/// arXiv:2108.05665). Returns the best tree seen, which is never worse than `start`. Deterministic: seeds are fixed.
ResultPairs annealed_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                           const SearchContext& context = {});

}  // namespace eindb
