#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/partition.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// The axes of a mesh of 2^mesh_axes workers that cut each dimension of a stored tensor between its tiles, the major
/// one first. Axes are assigned dimension by dimension, as often as two divides its parts, until none is left. Example:
/// partition [4, 2] on three axes gives [[0, 1], [2]].
std::vector<std::vector<int>> axes_between_tiles(const Partition& partition, int mesh_axes);

/// The workers for newly written tiles of a sharded tensor. This is the only rule: writers of tiles use it, and so do
/// plans that store tensors.
///
/// - Partitions of powers of two lie on a mesh of the first 2^n workers, by axes_between_tiles(): a worker holds a
///   block of neighbouring tiles, the same block for all tensors that are cut alike. Bit a of the worker's number
///   selects the half of the cut by axis a. If there are fewer tiles than workers, some hold none.
/// - Other partitions lie row-major, in runs over all workers that differ by at most one tile.
/// - Further copies are at the following workers; the first follows the last.
///
/// Example: partition [2, 2] on 4 workers: tile [0, 1] is at worker 2 (axis 0 cuts dimension 0, axis 1 dimension 1);
/// with two copies at worker 3 too. A value type.
class TilePlacement {
 public:
  /// `workers` and `replicas` are at least 1; there are min(replicas, workers) copies.
  TilePlacement(TileGrid grid, std::size_t workers, std::size_t replicas);

  const TileGrid& grid() const { return grid_; }
  /// Distinct numbers below `workers`; the first holder comes first.
  std::vector<Rank> of(std::int64_t tile_id) const;
  /// The holders of all tiles, with worker n as rank n.
  TileHolders all() const;

 private:
  std::size_t first_holder(std::int64_t tile_id) const;

  TileGrid grid_;
  std::size_t workers_;
  std::size_t replicas_;
  bool on_mesh_;
  std::vector<std::vector<int>> axes_;  // for each dimension, if on the mesh
};

}  // namespace eindb
