#pragma once

#include <optional>
#include <string>

#include "plan/ein_graph.hpp"

namespace eindb {

/// A contraction that exceeds the limit however it is sliced, even if the stored tensors it reads took no memory (their
/// tiles may be absent).
struct MemoryShortfall {
  std::string vertex;
  double bytes = 0;        ///< the least memory that it needs
  bool for_calls = false;  ///< `bytes` counts only the tiles of kernel calls, with everything else in a scratch file
};

/// The result of slicing the contractions of a graph.
struct SlicedGraph {
  EinGraph graph;  ///< the same vertices; EinGraph::sliced lists the sliced contractions
  /// The contraction with the largest need; empty if all fit.
  std::optional<MemoryShortfall> shortfall;
};

/// Finds the contractions of an ordered graph that need more than `limit` bytes and slices them
/// (optimizer/paths/slicing).
///
/// A contraction is a tree of vertices in which every vertex but the root has exactly one reader, its parent. A child
/// must be summable slice by slice, so its parent reads it as a plain factor of a summed product, or has no aggregate.
/// If the root has another aggregate, which can itself be taken over slices, the vertices below it have no aggregate.
///
/// Example: T = SUM(A * B), U = SUM(T * EXP(C)), Z = MAX(U + D) is the tree of T and U; Z stands alone.
SlicedGraph slice_contractions(EinGraph graph, double limit);

}  // namespace eindb
