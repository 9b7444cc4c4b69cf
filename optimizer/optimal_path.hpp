#pragma once

#include "optimizer/contraction_path.hpp"

namespace eindb {

/// The path of fewest flops. Up to kMostForAllSubsets (15) operands it is the best of all binary trees. Beyond that
/// each part of the network that shared labels connect (at most 64 operands) is contracted by itself, the best tree
/// without outer products, or a better one with them if annealing met it; then the parts' results are joined, by the
/// best of all trees if they are few, else the two smallest first.
///
/// How many operands are feasible depends on how densely they are connected: some 60 in a chain or a tree, 25 to 30
/// with three labels each. Throws Error{Value} when the search has become too long, after about a second.
ResultPairs optimal_pairs(const ContractionProblem& problem);

}  // namespace eindb
