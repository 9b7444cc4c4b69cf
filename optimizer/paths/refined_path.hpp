#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_budget.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// Takes pieces out of the tree of `start`, a node and some nodes below it down to eight in all, and puts the best tree
/// over these eight in their place (optimizer/paths/all_subsets), wherever that is better; every node in turn, again
/// and again, until hardly anything changes. What a piece holds differs from round to round. Finds at once what
/// rotations of annealing find only by way of worse trees. Never returns a worse path than `start`. Deterministic.
ResultPairs refined_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                          const SearchContext& context = {});

}  // namespace eindb
