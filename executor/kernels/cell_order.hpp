#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eindb {

/// Results are gathered in rows of at most that many places, with a bit for each, where that costs less than a hash
/// table.
inline constexpr std::int64_t kMostRowPlaces = std::int64_t{1} << 20U;

/// The properties of a join of cells that determine the order of its loops over labels.
struct OrderProblem {
  struct Trie {
    std::vector<std::size_t> labels;  ///< the label of each level, in the order in which the cells lie
    std::vector<double> nodes;        ///< of each level
  };
  std::vector<double> extents;      ///< by label
  std::vector<Trie> tries;          ///< one per operand of cells
  std::vector<std::size_t> output;  ///< the labels of the result, in order
  std::vector<double> run_costs;    ///< by label: of a step along it in the innermost loop, where no trie has it
  bool takes_union = false;
  bool makes_cells = false;
};

struct LabelOrder {
  std::vector<std::size_t> labels;  ///< outermost first
  std::size_t leading = 0;          ///< where cells are made: that many first labels are those of the result, in order
  bool takes_places = false;        ///< then, unless they come in order: they are gathered in rows, not by a hash table
};

/// The order with the least expected time. The number of points that are visited on the way follows from the numbers of
/// nodes, if cells are spread uniformly and independently; a trie that does not have its levels in the order of the
/// loops is sorted first, which counts too.
///
/// Example: Z[i,k] = SUM(A[i,j] * B[k,j]) in the order i, k, j would visit all pairs of rows. It takes i, j, k, and
/// sorts B by j.
LabelOrder choose_order(const OrderProblem& problem);

}  // namespace eindb
