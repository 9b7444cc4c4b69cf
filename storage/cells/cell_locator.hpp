#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/partition.hpp"

namespace eindb {

/// Finds the tile of a cell and the cell's offset in it.
///
/// Cells are ordered over the whole tensor: tile after tile, row-major within each. A cell's number in that order is
/// its position. Example: a 2 x 4 tensor in two tiles of 2 x 2 has the positions
///
///     0 1 | 4 5
///     2 3 | 6 7
///
/// so the cells of one tile form one range of positions. For a tile with key q whose part of dimension d begins at
/// begin(d) and has size(d) indices, the first position is
///
///     sum over d of  size(0) ... size(d-1) * begin(d) * extent(d+1) ... extent(n-1)
///
/// that is, the cells in earlier parts of the first dimension, plus, within that part, those in earlier parts of the
/// second, and so on. Caches the last part of each dimension, so neighbouring cells are found fast. Not thread-safe.
class CellLocator {
 public:
  explicit CellLocator(TileGrid grid);

  struct Place {
    std::int64_t tile_id = 0;
    std::int64_t first = 0;   ///< position of the tile's first cell
    std::int64_t offset = 0;  ///< of the cell within the tile
    std::int64_t position() const { return first + offset; }
  };

  /// The first dimension in which `key` lies outside the tensor. The key must have one index per dimension.
  std::optional<std::size_t> outside(std::span<const std::int64_t> key) const;
  /// The place of a key inside the tensor.
  Place locate(std::span<const std::int64_t> key);
  /// The place of a position below the tensor's number of cells, and the size of its tile.
  struct TilePlace {
    Place place;
    std::int64_t size = 0;
  };
  TilePlace at(std::int64_t position) const;
  std::vector<std::int64_t> key_at(std::int64_t position) const;

 private:
  /// One dimension, and the part that was asked for last.
  struct Dimension {
    std::int64_t extent = 0;
    std::int64_t parts = 1;
    std::int64_t later = 1;  ///< product of the extents of the dimensions after it
    std::int64_t part = 0;
    PartRange range;
    std::vector<std::int64_t> begins;  ///< of each part, then the end; empty if there are too many parts
  };
  void find_part(std::size_t d, std::int64_t index);
  /// Calls visit(d, part, range) for each dimension of the tile that holds `position`; returns the offset in the tile.
  template <class Visit>
  std::int64_t walk(std::int64_t position, Visit&& visit) const;

  TileGrid grid_;
  std::vector<Dimension> dimensions_;
};

}  // namespace eindb
