#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// The scalar operations of a graph, which do not depend on its partitioning.
struct GraphFlops {
  /// Scalar operations, summed over the vertices: for every cell of a vertex's join (the product of the extents of all
  /// its labels) those of its expression, and one more if it aggregates; of an epilogue one set per cell of the result.
  /// For a product of two tensors that is the measure of ContractionPath; for one of n it is what computing it in one
  /// nest of loops takes. What is computed in slices counts as often as it is repeated.
  double flops = 0;
  double largest_result = 0;  ///< elements of the largest result of a vertex, or slice of one, that is held at once
};

GraphFlops flops_of(const EinGraph& graph);

}  // namespace eindb
