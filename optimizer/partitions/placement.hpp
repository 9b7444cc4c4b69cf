#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/partitions/labelling.hpp"

namespace eindb {

/// Where a tensor lies on a mesh of 2^n workers, whose axes x0, x1, ... have two places each: which axes cut each
/// dimension, the major one first. An axis cuts at most one dimension; one that cuts none replicates.
struct MeshType {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<int>> axes;  ///< of each dimension

  /// "[2{x0}4, 3]": local size, axes from minor to major, global size. Uneven parts count as the largest.
  std::string to_string() const;
};

/// Where one vertex is computed and what it takes to bring its tiles there.
struct VertexPlacement {
  MeshType result;
  /// Elements that workers receive: those of their kernel calls' inputs that they do not hold, and of partial results
  /// in an all-reduce, 2 (g - 1) / g of a result's tile for each of g workers.
  double received = 0;
  double most_received = 0;  ///< by one worker
};

struct Placement {
  int mesh_axes = 0;
  std::vector<VertexPlacement> vertices;  ///< entry n is of VertexId(n); of inputs, where they are taken to lie
  double received = 0;
  double most_received = 0;  ///< the sum over the vertices of what the busiest worker receives
};

/// Lays a labelled graph out over the first 2^n workers of as many as there are, with no worker at hand. Each vertex's
/// cuts are given axes: first those by which its inputs, the largest first, are cut along the same label already; then
/// any that are left, to labels of the result before labels that are summed. With more kernel calls than workers a
/// worker makes several, of neighbouring keys; with fewer, some workers make the same.
/// Stored tensors are taken to lie sharded over all workers, along the dimensions that they are cut in, then the first.
Placement place(const EinGraph& graph, const Labelling& labelling, std::int64_t workers);

}  // namespace eindb
