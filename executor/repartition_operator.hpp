#pragma once

#include <span>
#include <vector>

#include "executor/execution_context.hpp"
#include "executor/relation.hpp"

namespace eindb {

/// Gathers tile `tile_id` of `target` from the tiles of `source` that overlap it; null if all of those are absent.
/// Increases `tiles_in` by the number of tiles copied from. Thread-safe.
TilePtr gather_tile(Relation& source, const TileGrid& target, std::int64_t tile_id, MemoryBudget& memory,
                    std::int64_t& tiles_in);
/// The same from sources that are joined along a dimension, one after the other (ConcatenationNode).
TilePtr gather_tile(std::span<Relation* const> sources, std::size_t along, const TileGrid& target, std::int64_t tile_id,
                    MemoryBudget& memory, std::int64_t& tiles_in);
/// The same for a source whose tiles are of cells, and so is the tile. Null if it has none.
TilePtr gather_cells(Relation& source, const TileGrid& target, std::int64_t tile_id, MemoryBudget& memory,
                     std::int64_t& tiles_in);

}  // namespace eindb
