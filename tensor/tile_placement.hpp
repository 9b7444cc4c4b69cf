#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/partition.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// The axes of a mesh of workers that cut each dimension of a stored tensor between its tiles, the major one first. The
/// mesh has an axis for each prime factor of `workers`, the smallest first; they are numbered from 0. Axes are assigned
/// dimension by dimension, as often as their sizes divide its parts, until none is left that does. Examples: partition
/// [4, 2] on 8 workers gives [[0, 1], [2]], partition [3, 4] on 6 workers [[1], [0]].
std::vector<std::vector<int>> axes_between_tiles(const Partition& partition, std::size_t workers);

/// The workers for newly written tiles of a sharded tensor. This is the only rule: writers of tiles use it, and so do
/// plans that store tensors.
///
/// - Where all axes of the workers' mesh cut the partition (axes_between_tiles), or each tile has its own place on some
///   of them, tiles lie on the mesh: a worker holds a block of neighbouring tiles, the same block for all tensors that
///   are cut alike. If there are fewer tiles than workers, some hold none.
/// - Other partitions, and those of more than kMostOnMesh tiles, lie row-major, in runs over all workers that differ by
///   at most one tile.
/// - Further copies are at the following workers; the first follows the last.
///
/// Example: partition [2, 2] on 4 workers: tile [0, 1] is at worker 2 (axis 0 cuts dimension 0, axis 1 dimension 1);
/// with two copies at worker 3 too. A value type.
class TilePlacement {
 public:
  static constexpr std::int64_t kMostOnMesh = std::int64_t{1} << 20U;

  /// `workers` and `replicas` are at least 1; there are min(replicas, workers) copies.
  TilePlacement(TileGrid grid, std::size_t workers, std::size_t replicas);

  const TileGrid& grid() const { return grid_; }
  /// Distinct numbers below `workers`; the first holder comes first.
  std::vector<Rank> of(std::int64_t tile_id) const;
  /// The holders of all tiles, with worker n as rank n.
  TileHolders all() const;
  /// The holders of a tile whose first one is that worker.
  std::vector<Rank> from(std::size_t first) const;

 private:
  struct Axis {
    std::int64_t size = 1;
    std::int64_t stride = 1;  // between the numbers of workers at neighbouring places
  };

  void lay_on_mesh();
  std::size_t first_holder(std::int64_t tile_id) const;

  TileGrid grid_;
  std::size_t workers_;
  std::size_t replicas_;
  // For each dimension the axes that cut it, the major one first; none if tiles lie in runs.
  std::optional<std::vector<std::vector<Axis>>> axes_;
};

/// The first holders of the tiles of few cells that are written in ascending order, of which the cells are known,
/// about: they lie in runs with about as many cells each, as tiles may have very different numbers of them.
///
/// Example: of 100 cells on 2 workers in tiles of 40, 30 and 30 the first two are at worker 0, as their middles are
/// among the first 50 cells, and the last at worker 1. A value type.
class RunsOfCells {
 public:
  RunsOfCells(std::int64_t cells, std::size_t workers);
  /// Of the next tile, which has so many cells.
  std::size_t next(std::int64_t cells);

 private:
  double cells_;
  std::size_t workers_;
  double before_ = 0;  // the cells of earlier tiles
};

}  // namespace eindb
