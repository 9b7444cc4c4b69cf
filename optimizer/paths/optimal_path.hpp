#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The best path under the objective of `context`. Up to kMostForAllSubsets (15) operands it is the best of all binary
/// trees. Beyond that each part of the network that shared labels connect (at most 64 operands) is contracted by
/// itself, the best tree without outer products, or a better one with them if annealing met it; then the parts' results
/// are joined, by the best of all trees if they are few, else the two smallest first.
///
/// Size is found in two rounds: the least that the largest intermediate can be, then the fewest flops among the paths
/// that stay within it. A single round cannot tell: what makes an intermediate smaller that is not the largest one may
/// cost flops for nothing.
///
/// How many operands are feasible depends on how densely they are connected: some 60 in a chain or a tree, 25 to 30
/// with three labels each. Throws Error{Value} when the search has become too long, after about a second.
ResultPairs optimal_pairs(const ContractionProblem& problem, const SearchContext& context = {});

}  // namespace eindb
