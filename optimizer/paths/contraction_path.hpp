#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/cancellation.hpp"
#include "optimizer/paths/contraction_problem.hpp"  // IWYU pragma: export

namespace eindb {

/// The order of an n-ary contraction as pairs of positions in a shrinking list, in opt_einsum's format: a step removes
/// two operands from the list and appends their contraction. n operands take n - 1 steps. A label is summed in the step
/// after which neither another operand nor the output has it.
/// Example: ((0, 1), (0, 1)) over A, B, C contracts A with B, then C (now at 0) with AB (at 1).
struct ContractionPath {
  using Step = std::pair<std::size_t, std::size_t>;  ///< first < second
  std::vector<Step> steps;
  double flops = 0;                 ///< multiplications and additions
  double largest_intermediate = 0;  ///< elements of the largest result of a step, the last one included
  double elements_moved = 0;        ///< elements that the steps read and write: both inputs and the result of each
};

/// A path as pairs of results: operands are results 0 to n - 1, step s gives result n + s.
using ResultPairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// The path of the given pairs of results, with its costs. Throws Error{Cancelled} if `cancellation` is set and
/// requests it.
ContractionPath path_of_results(const ContractionProblem& problem, const ResultPairs& pairs,
                                const Cancellation* cancellation = nullptr);
/// The inverse, for the order alone: the results that each step of a path over n operands contracts.
ResultPairs results_of_path(std::size_t operand_count, const std::vector<ContractionPath::Step>& steps);

}  // namespace eindb
