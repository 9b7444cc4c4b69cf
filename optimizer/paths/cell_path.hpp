#pragma once

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The most operands of a problem that is ordered by its cells.
inline constexpr std::size_t kMostForCells = 8;

/// The path of least expected time for a problem some of whose operands have few cells (ContractionProblem::cells),
/// among all binary trees, outer products included, by dynamic programming over all subsets of at most kMostForCells
/// operands. A step takes the less of what it takes with dense tiles and with cells, if one of its two operands has
/// them; so does a result, which is of cells where few are expected. What a subset of operands gives is estimated from
/// all of them at once (tensor/cell_estimate), whatever the order in which they are joined; where a part of them is
/// known (ContractionProblem::known), from that part as one operand and the others.
///
/// Example: A[i,j] * B[j,k] * C[k,l] * x[l] with many cells in A and few in C begins with C * x, or, where x is a
/// matrix with many columns, with B * C.
ResultPairs pairs_by_cells(const ContractionProblem& problem, const SearchContext& context = {});

/// The expected time of all steps of a path, in flops of dense tiles; comparable for paths of one problem.
double cost_by_cells(const ContractionProblem& problem, const ResultPairs& pairs);

}  // namespace eindb
