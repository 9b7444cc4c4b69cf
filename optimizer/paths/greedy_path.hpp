#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// How greedy rates pairs; as it stands, the plain rule.
struct GreedyRule {
  double weight = 1;       ///< of what a step takes away against what it makes
  double temperature = 0;  ///< of the noise on the logarithm of a rating; 0 for none
  std::uint64_t seed = 0;  ///< of the noise
};

/// Contracts the pair with the smallest size(result) - weight * (size(a) + size(b)) first, among pairs that share a
/// label; then what is left, as outer products, smallest first. Deterministic; about n log n for n operands of bounded
/// rank: a label that more than a few dozen operands share proposes only some of their pairs.
ResultPairs greedy_pairs(const ContractionProblem& problem, const GreedyRule& rule, const SearchContext& context = {});

/// Greedy under the objective of `context`: for Flops the plain rule; for Size and Mix the best of three, with weights
/// of 1, 1/2 and 0: how much an input that a step takes away is worth depends on what a path is after.
ResultPairs greedy_pairs_by_objective(const ContractionProblem& problem, const SearchContext& context);

/// The path of the plain rule.
ContractionPath greedy_path(const ContractionProblem& problem);

}  // namespace eindb
