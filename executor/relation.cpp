#include "executor/relation.hpp"

#include "common/check.hpp"

namespace eindb {

Relation::Relation(DType type, TileGrid grid, std::vector<TilePtr> tiles)
    : dtype_(type), grid_(std::move(grid)), slots_(tiles.size()) {
  CHECK(static_cast<std::int64_t>(tiles.size()) == grid_.tile_count(), "a relation has a tile for every key");
  for (std::size_t n = 0; n < tiles.size(); ++n) slots_[n].tile = std::move(tiles[n]);
}

Relation::Relation(DType type, TileGrid grid, std::string tensor, TileSource& source,
                   std::shared_ptr<MemoryBudget> memory)
    : dtype_(type),
      grid_(std::move(grid)),
      slots_(static_cast<std::size_t>(grid_.tile_count())),
      tensor_(std::move(tensor)),
      source_(&source),
      memory_(std::move(memory)) {}

TilePtr Relation::tile(std::int64_t tile_id) {
  auto& slot = slots_[static_cast<std::size_t>(tile_id)];
  if (source_ != nullptr) {
    std::call_once(slot.once, [&] {
      auto read = source_->read(tensor_, tile_id);
      tiles_read_.fetch_add(1, std::memory_order_relaxed);
      if (read == nullptr) return;
      // Counted apart from the tile itself, which the source may share with others.
      const auto bytes = static_cast<std::int64_t>(read->byte_size());
      memory_->reserve(bytes);
      slot.tile = TilePtr(read.get(), [read, bytes, memory = memory_](const Tile*) { memory->release(bytes); });
    });
  }
  return slot.tile;
}

TilePtr Relation::dense_tile(std::int64_t tile_id) {
  if (auto present = tile(tile_id)) return present;
  return std::make_shared<const Tile>(Tile::zeros(dtype_, grid_.tile_shape(grid_.key_of(tile_id))));
}

}  // namespace eindb
