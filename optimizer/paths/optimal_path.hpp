#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The best path under the objective of `context`. Up to kMostForAllSubsets (15) operands, it is the best of all binary
/// trees. Beyond that, each component of the network (at most 64 operands) is contracted by itself, by the best tree
/// without outer products, or by a better one with them if annealing found it. Then the components' results are joined,
/// by the best of all trees if they are few, otherwise the two smallest first.
///
/// Size takes two rounds: first the least possible largest intermediate, then the fewest flops among the paths within
/// it. A single round cannot do this: a step that makes an intermediate smaller costs flops for nothing if that
/// intermediate is not the largest one.
///
/// The feasible number of operands depends on how densely they are connected: some 60 in a chain or a tree, 25 to 30
/// with three labels each. Throws Error{Value} if the search takes too long, after about a second.
ResultPairs optimal_pairs(const ContractionProblem& problem, const SearchContext& context = {});

}  // namespace eindb
