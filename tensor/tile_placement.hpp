#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/partition.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// Which axes of a mesh of 2^mesh_axes workers cut the dimensions of a stored tensor between its tiles, of each
/// dimension the major one first: dimension by dimension, as often as two divides its parts, until no axis is left.
/// Example: partition [4, 2] on three axes gives [[0, 1], [2]].
std::vector<std::vector<int>> axes_between_tiles(const Partition& partition, int mesh_axes);

/// Where the tiles of a sharded tensor go that are written anew. The one rule of it: whoever writes tiles and whoever
/// plans with tensors that are not there yet ask here.
///
/// - Partitions of powers of two lie on a mesh of the first 2^n of the workers, by axes_between_tiles(): a worker holds
///   a block of neighbouring tiles, the same one of all tensors that are cut alike. Worker number: the bit of axis a is
///   the half of its cut. With fewer tiles than workers some hold none.
/// - Others lie row-major, in runs over all workers that differ by one tile at the most.
/// - Further copies are at the workers that follow, the first after the last.
///
/// Example: partition [2, 2] on 4 workers: tile [0, 1] is at worker 2 (axis 0 cuts dimension 0, axis 1 dimension 1);
/// with two copies at worker 3, too. A value.
class TilePlacement {
 public:
  /// `workers` is at least 1; there are min(replicas, workers) copies, `replicas` being at least 1.
  TilePlacement(TileGrid grid, std::size_t workers, std::size_t replicas);

  const TileGrid& grid() const { return grid_; }
  /// Different numbers below `workers`, the first holder first.
  std::vector<Rank> of(std::int64_t tile_id) const;
  /// Those of all tiles, worker n being rank n.
  TileHolders all() const;

 private:
  std::size_t first_holder(std::int64_t tile_id) const;

  TileGrid grid_;
  std::size_t workers_;
  std::size_t replicas_;
  bool on_mesh_;
  std::vector<std::vector<int>> axes_;  // of each dimension, on the mesh
};

}  // namespace eindb
