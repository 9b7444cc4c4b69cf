#include "executor/repartition_operator.hpp"

#include "tensor/tile_gather.hpp"

namespace eindb {

TilePtr gather_tile(Relation& source, const TileGrid& target, std::int64_t tile_id, MemoryBudget& memory,
                    std::int64_t& tiles_in) {
  const auto read = [&](std::int64_t id) { return source.tile(id); };
  auto tile = gather_tile(source.grid(), source.dtype(), read, target, tile_id, tiles_in);
  return tile ? memory.track(std::move(*tile)) : nullptr;
}

}  // namespace eindb
