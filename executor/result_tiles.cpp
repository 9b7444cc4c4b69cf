#include "executor/result_tiles.hpp"

#include <utility>

#include "common/check.hpp"

namespace eindb {

ResultTiles::ResultTiles(std::shared_ptr<BufferedTiles> held, TileGrid held_grid, TileGrid grid, TilePtr whole)
    : held_(std::move(held)), held_grid_(std::move(held_grid)), grid_(std::move(grid)), whole_(std::move(whole)) {
  CHECK(held_ != nullptr && held_->count() == held_grid_.tile_count(),
        "a result has a tile for each place of its grid");
  if (grid_ == held_grid_) return;
  cut_.emplace(*held_, grid_);
  cutting_.emplace(held_grid_, grid_, *cut_);
  cutting_->begin(held_->memory());
}

// If memory is short, the tile that was being cut is the first to be cut the next time.
BufferedTiles& ResultTiles::tiles() {
  if (!cut_) return *held_;
  const std::lock_guard lock(mutex_);
  if (!cutting_) return cut_->tiles;
  is_being_cut_ = true;
  for (auto id = held_->next(0); id; id = held_->next(*id + 1)) {
    cutting_->write(*id, held_->get(*id));
    held_->drop(*id);
  }
  cutting_.reset();
  return cut_->tiles;
}

void ResultTiles::visit(const std::function<void(const TileGrid&, std::int64_t, const Tile&)>& visit) {
  const auto visit_all = [&](BufferedTiles& tiles, const TileGrid& grid) {
    for (auto id = tiles.next(0); id; id = tiles.next(*id + 1))
      if (const auto tile = tiles.get(*id)) visit(grid, *id, *tile);
  };
  std::unique_lock lock(mutex_);  // nobody begins to cut meanwhile
  if (cut_ && !is_being_cut_) return visit_all(*held_, held_grid_);
  lock.unlock();
  visit_all(tiles(), grid_);
}

}  // namespace eindb
