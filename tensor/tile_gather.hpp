#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A relation of which tiles are gathered: `read` returns a tile, or null if it is all zero. Along a dimension its
/// index 0 is index `begin` of the target.
struct GatherSource {
  const TileGrid& grid;
  std::function<TilePtr(std::int64_t tile_id)> read;
  std::int64_t begin = 0;
};

/// Assembles the tile `tile_id` of `target` from the tiles of sources that lie in it at different places along a
/// dimension; cells that are in none of them are zero. Otherwise as below.
std::optional<Tile> gather_tile(std::span<const GatherSource> sources, std::size_t along, DType type,
                                const TileGrid& target, std::int64_t tile_id, std::int64_t& tiles_in);

/// Assembles the tile `tile_id` of `target` from the tiles of `source`, a grid of the same shape or of a smaller one,
/// outside of which there are zeros; nullopt if none of the overlapping tiles is present. `read` returns a source tile,
/// or null if it is all zero. It is called once per overlapping tile, in order, and each tile is released before the
/// next call. `tiles_in` grows by the number of tiles present.
std::optional<Tile> gather_tile(const TileGrid& source, DType type,
                                const std::function<TilePtr(std::int64_t tile_id)>& read, const TileGrid& target,
                                std::int64_t tile_id, std::int64_t& tiles_in);

}  // namespace eindb
