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

/// The path of least cost (priced_cost) among the binary trees without outer products, of at most 64 operands that are
/// connected by shared labels. Subsets are built by size, from pairs of smaller ones that are disjoint and share a
/// label. Only those with a place in a path within `bound` are kept, as in opt_einsum's DynamicProgramming; there the
/// bound starts low and is raised until a path is found, here it comes from a path that another algorithm has found.
///
/// The work grows with the square of the subsets kept: a chain of 60 has 2000 of them, 30 operands in a dense network
/// billions. `budget` is the number of pairs to look at, some nanoseconds each; memory grows with its square root.
SubsetSearch best_over_connected_subsets(const ContractionProblem& problem, const IntermediatePrice& price,
                                         const PathBound& bound, std::uint64_t budget,
                                         const SearchContext& context = {});

/// The same for the path whose largest intermediate is least.
SubsetSearch least_largest_over_connected_subsets(const ContractionProblem& problem, const PathBound& bound,
                                                  std::uint64_t budget, const SearchContext& context = {});

}  // namespace eindb
