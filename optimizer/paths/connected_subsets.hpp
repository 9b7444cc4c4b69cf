#pragma once

#include <cstdint>

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The result of a search that may give up.
struct SubsetSearch {
  bool finished = true;  ///< false: the budget was spent first
  ResultPairs pairs;     ///< empty if no path is within the bound, or if not finished
};

/// The path of least cost (priced_cost) among the binary trees without outer products, for at most 64 operands that are
/// connected by shared labels. Subsets are built by size, from disjoint pairs of smaller ones that share a label. Only
/// subsets that can be part of a path within `bound` are kept, as in opt_einsum's DynamicProgramming. There the bound
/// starts low and is raised until a path is found; here it comes from the path of another algorithm.
///
/// The work grows with the square of the number of subsets kept: a chain of 60 operands has 2000, a dense network of 30
/// has billions. `budget` is the number of pairs to examine, some nanoseconds each; memory grows with its square root.
SubsetSearch best_over_connected_subsets(const ContractionProblem& problem, const IntermediatePrice& price,
                                         const PathBound& bound, std::uint64_t budget,
                                         const SearchContext& context = {});

/// The same for the path with the smallest largest intermediate.
SubsetSearch least_largest_over_connected_subsets(const ContractionProblem& problem, const PathBound& bound,
                                                  std::uint64_t budget, const SearchContext& context = {});

}  // namespace eindb
