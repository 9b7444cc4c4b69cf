#pragma once

#include <string>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// The result of computing values again for their late readers.
struct RecomputedGraph {
  EinGraph graph;                  ///< with one more vertex for each of `names`, of the same name and a ' behind it
  std::vector<std::string> names;  ///< of the vertices that are computed a second time
};

/// Computes vertices a second time rather than holding their results, as training needs them: the values of a forward
/// pass are read again by the derivatives, the first ones last. Such a value is dropped after the last reader that
/// comes before the moment at which most is held, and a copy of its vertex, right before the first reader after it,
/// serves the others. Vertices that read values which are dropped read the copies of these.
///
/// Only vertices without an aggregate are computed again, and only if their late readers wait for an aggregate of all
/// of their cells, as of a loss that is no plain sum: otherwise execution takes tile after tile through the graph, and
/// does not hold the results as a whole. Each is computed again once, so that a graph takes at most the operations of
/// those on top, and every cell keeps its value. They are chosen one by one, each time the one that leaves the least
/// held beyond `share` of what the graph holds at most, over all of its steps; until that is nothing, or none helps.
///
/// Example: A = f(X), B = f(A), C = f(B), DC = g(C), DB = DC * g(B), DA = DB * g(A), with X stored and read by another
/// vertex behind DA: A is dropped and computed again from X for DA.
///
/// Chains and slices of the graph are not carried over.
RecomputedGraph recompute_values(const EinGraph& graph, double share);

}  // namespace eindb
