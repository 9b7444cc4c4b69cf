#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The tile `tile_id` of `target`, put together from the tiles of `source`, a grid of the same shape; nullopt if none
/// of those that it overlaps is present. `read` gives a source tile, or null for all zero, and is called once for each
/// overlapping tile, in order, and each is let go of before the next is asked for; `tiles_in` is raised by those
/// present.
std::optional<Tile> gather_tile(const TileGrid& source, DType type,
                                const std::function<TilePtr(std::int64_t tile_id)>& read, const TileGrid& target,
                                std::int64_t tile_id, std::int64_t& tiles_in);

}  // namespace eindb
