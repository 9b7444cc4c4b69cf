#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_budget.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The best of `start` and of many paths that sweep over the network: one result takes in one operand after the other,
/// from one end of the network to the other. The next operand is the one for which the result grows least (in log2)
/// plus a price for each operand that it skips in the direction of the sweep.
///
/// A direction is a combination of the two slowest modes of a random walk from operand to operand through their labels,
/// which vary along the longest extensions of the network: on a grid they point along its sides, and a sweep has a
/// straight front. Bisections cut such networks across first and cannot see that a front that moves over all of them
/// stays short, if each operand that it takes in ends as many labels as it begins: n queens on a board of 28 x 28 take
/// 2^99 steps in a sweep, and 2^129 by nested dissection. Deterministic.
ResultPairs best_swept_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                             const SearchContext& context = {});

}  // namespace eindb
