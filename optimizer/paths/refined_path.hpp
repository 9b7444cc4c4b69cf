#pragma once

#include <cstdint>

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_budget.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// Local optimisation of the tree of `start`. A piece is a node and some nodes below it, down to eight in all; it is
/// replaced by the best tree over these eight (optimizer/paths/all_subsets) if that is better. Every node is visited in
/// turn, with different pieces from round to round, until hardly anything changes. This finds at once improvements that
/// annealing reaches only through worse trees. Never returns a worse path than `start`. Deterministic.
ResultPairs refined_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                          const SearchContext& context = {});

/// The units that one round over all nodes takes, about.
std::uint64_t units_of_refined_round(const ContractionProblem& problem);

}  // namespace eindb
