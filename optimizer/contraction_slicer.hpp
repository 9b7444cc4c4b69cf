#pragma once

#include <optional>
#include <string>

#include "plan/ein_graph.hpp"

namespace eindb {

/// A contraction that keeps to the limit in no slices, not even if the stored tensors that it reads took no memory
/// (their tiles may be absent).
struct MemoryShortfall {
  std::string vertex;
  double bytes = 0;        ///< the least that it needs
  bool for_calls = false;  ///< that is for the tiles that kernel calls work on, whatever else goes to a scratch file
};

/// The result of slicing the contractions of a graph.
struct SlicedGraph {
  EinGraph graph;  ///< the same vertices; EinGraph::sliced says what is computed in slices
  /// Of the contraction that needs the most.
  std::optional<MemoryShortfall> shortfall;
};

/// Finds the contractions of an ordered graph that need more than `limit` bytes and slices them
/// (optimizer/paths/slicing).
///
/// A contraction is a tree of vertices, each of which but the root is read once, by the next. What a vertex of it reads
/// may be summed in slices below, so it is a plain factor of a product that is summed or is no aggregate; below a root
/// with another aggregate, whose slices it can aggregate itself, stand vertices without an aggregate.
///
/// Example: T = SUM(A * B), U = SUM(T * EXP(C)), Z = MAX(U + D) is the tree of T and U; Z stands alone.
SlicedGraph slice_contractions(EinGraph graph, double limit);

}  // namespace eindb
