#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// How greedy rates pairs; the default is the plain rule.
struct GreedyRule {
  double weight = 1;       ///< factor of the sizes of a step's inputs
  double temperature = 0;  ///< of the noise on the logarithm of a rating; 0: no noise
  std::uint64_t seed = 0;  ///< of the noise
};

/// Contracts the pair with the smallest size(result) - weight * (size(a) + size(b)) first, among pairs that share a
/// label; then joins the remaining results by outer products, smallest first. Deterministic. Takes about n log n for n
/// operands of bounded rank: if more than a few dozen operands share a label, only some of their pairs are considered.
ResultPairs greedy_pairs(const ContractionProblem& problem, const GreedyRule& rule, const SearchContext& context = {});

/// The greedy path under the objective of `context`: for Flops by the plain rule; for others the best of the
/// weights 1, 1/2 and 0, since the value of freeing an input depends on the objective.
ResultPairs greedy_pairs_by_objective(const ContractionProblem& problem, const SearchContext& context);

/// The path of the plain rule.
ContractionPath greedy_path(const ContractionProblem& problem);

}  // namespace eindb
