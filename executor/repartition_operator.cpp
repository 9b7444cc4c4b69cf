#include "executor/repartition_operator.hpp"

#include <utility>
#include <vector>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "tensor/cell_gather.hpp"
#include "tensor/tile_gather.hpp"

namespace eindb {

TilePtr gather_tile(Relation& source, const TileGrid& target, std::int64_t tile_id, MemoryBudget& memory,
                    std::int64_t& tiles_in) {
  CHECK(target.shape() == source.grid().shape(), "a tile is gathered from another cut of its tensor");
  Relation* const only = &source;
  return gather_tile(std::span(&only, 1), 0, target, tile_id, memory, tiles_in);
}

TilePtr gather_tile(std::span<Relation* const> sources, std::size_t along, const TileGrid& target, std::int64_t tile_id,
                    MemoryBudget& memory, std::int64_t& tiles_in) {
  CHECK(!sources.empty(), "a tile is gathered from tiles");
  const auto type = sources.front()->dtype();
  std::vector<GatherSource> gathered;
  std::int64_t begin = 0;
  for (auto* source : sources) {
    const auto read = [source](std::int64_t id) {
      poll_cancellation();
      return source->tile(id);
    };
    gathered.push_back({source->grid(), read, begin});
    if (sources.size() > 1) begin += source->grid().shape()[along];
  }
  const auto assemble = [&] { return gather_tile(gathered, along, type, target, tile_id, tiles_in); };
  if (sources.size() == 1)
    if (auto kept = sources.front()->cut_tile(target, tile_id, assemble)) return *std::move(kept);
  // Reserved first, since the gathered tile would otherwise exceed the limit for a moment.
  const auto elements = target.tile_shape(target.key_of(tile_id)).element_count();
  MemoryReservation room(memory.shared_from_this(), elements * static_cast<std::int64_t>(size_of(type)));
  auto tile = assemble();
  return tile ? memory.track(CountedTile{std::move(room), std::move(*tile)}) : nullptr;
}

TilePtr gather_cells(Relation& source, const TileGrid& target, std::int64_t tile_id, MemoryBudget& memory,
                     std::int64_t& tiles_in) {
  CellGather gather(source.dtype(), source.grid(), target, tile_id);
  std::vector<std::pair<std::int64_t, TilePtr>> tiles;
  std::int64_t most = 0;
  for (auto id = gather.next(0); id; id = gather.next(*id + 1)) {
    poll_cancellation();
    auto tile = source.stored_tile(*id);
    if (tile == nullptr) continue;
    most += gather.most_of(*id, tile->cells());
    tiles.emplace_back(*id, std::move(tile));
  }
  tiles_in += static_cast<std::int64_t>(tiles.size());
  MemoryReservation room(memory.shared_from_this(), CellGather::bytes_for(source.dtype(), source.grid().rank(), most));
  for (const auto& [id, tile] : tiles) gather.add(id, tile->cells());
  auto block = std::make_shared<const CellBlock>(gather.take());
  if (block->count() == 0) return nullptr;
  room.shrink_to(static_cast<std::int64_t>(block->byte_size()));
  return memory.track(CountedTile{std::move(room), Tile::of_cells(std::move(block))});
}

}  // namespace eindb
