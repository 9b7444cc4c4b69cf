#include "executor/repartition_operator.hpp"

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "tensor/tile_gather.hpp"

namespace eindb {

TilePtr gather_tile(Relation& source, const TileGrid& target, std::int64_t tile_id, MemoryBudget& memory,
                    std::int64_t& tiles_in) {
  CHECK(target.shape() == source.grid().shape(), "a tile is gathered from another cut of its tensor");
  // Reserved first, since the gathered tile would otherwise exceed the limit for a moment.
  const auto elements = target.tile_shape(target.key_of(tile_id)).element_count();
  MemoryReservation room(memory.shared_from_this(), elements * static_cast<std::int64_t>(size_of(source.dtype())));
  const auto read = [&](std::int64_t id) {
    poll_cancellation();
    return source.tile(id);
  };
  auto tile = gather_tile(source.grid(), source.dtype(), read, target, tile_id, tiles_in);
  return tile ? memory.track(CountedTile{std::move(room), std::move(*tile)}) : nullptr;
}

}  // namespace eindb
