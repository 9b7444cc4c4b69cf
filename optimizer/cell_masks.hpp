#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// A vertex of which some cells are enough, those at which a tensor of cells has one.
struct CellMask {
  VertexId vertex;
  VertexId cells;
  std::vector<std::size_t> dimensions;  ///< of the vertex, by dimension of the tensor of cells
};

/// The vertices of plain values whose readers all read the same tensor of cells beside them, at the same indices, and
/// are zero where that has no cell, whatever the vertex's value is there. Only for sums and for vertices without an
/// aggregate.
///
/// Example: P[i,j] = SUM(U[i,k] * V[j,k]), L[] = SUM(CASE WHEN A[i,j] <> 0 THEN (A[i,j] - P[i,j]) ^ 2 ELSE 0 END), with
/// A read as cells: of P the cells of A are enough. A * P is not an example, as zero times an infinite value is NaN.
std::vector<CellMask> find_masks(const EinGraph& graph);

/// The graph in which the vertex is zero where the other one has no cell: P[i,j] = SUM(CASE WHEN A[i,j] <> 0 THEN
/// U[i,k] * V[j,k] ELSE 0 END). The number of vertices is the same; their order may change.
EinGraph with_mask(const EinGraph& graph, const CellMask& mask);

}  // namespace eindb
