#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// The scalar operations of a graph, which do not depend on its partition vectors.
struct GraphFlops {
  /// Scalar operations, summed over the vertices. Each cell of a vertex's join (the product of the extents of all its
  /// labels) counts the operations of its expression, plus one if the vertex aggregates; an epilogue counts once per
  /// cell of the result. For a product of two tensors this equals the measure of ContractionPath; for a product of n
  /// tensors it is the cost of a single loop nest. Work that slices repeat is counted as often as it is repeated.
  double flops = 0;
  double largest_result = 0;  ///< elements of the largest vertex result, or slice of one, that is held at once
};

GraphFlops flops_of(const EinGraph& graph);

}  // namespace eindb
