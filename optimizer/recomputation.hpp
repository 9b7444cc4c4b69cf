#pragma once

#include <string>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// The result of computing values a second time for their late readers.
struct RecomputedGraph {
  EinGraph graph;                  ///< with a copy of each vertex of `names`, whose name gets a ' appended
  std::vector<std::string> names;  ///< the vertices that are computed twice
};

/// Computes vertices a second time instead of holding their results. Training needs this: the derivatives read the
/// values of the forward pass again, in reverse order. A chosen value is dropped after its last reader before the
/// moment of peak memory. A copy of its vertex, placed right before the first reader after that moment, serves the late
/// readers. A copy reads the copies of those of its inputs that are dropped.
///
/// Only vertices without an aggregate are copied, and only if their late readers wait for an aggregate over all of
/// their cells, such as a loss that is no plain sum. Otherwise execution takes tile after tile through the graph and
/// never holds the whole result. A vertex is copied at most once, so the extra operations are at most those of the
/// copied vertices, and every cell keeps its value. Vertices are chosen greedily: each time the one that minimises the
/// bytes held beyond `share` of the graph's peak, summed over all steps, until nothing is held beyond it or no vertex
/// helps.
///
/// Example: A = f(X), B = f(A), C = f(B), DC = g(C), DB = DC * g(B), DA = DB * g(A), with X stored and read by another
/// vertex behind DA: A is dropped and computed again from X for DA.
///
/// Chains and slices of the graph are not carried over.
RecomputedGraph recompute_values(const EinGraph& graph, double share);

}  // namespace eindb
