#include "executor/sliced_result.hpp"

#include "common/check.hpp"
#include "executor/kernels/tile_operations.hpp"

namespace eindb {

SlicedResult::SlicedResult(Aggregate aggregate, DType type, TileGrid grid, std::shared_ptr<MemoryBudget> memory)
    : aggregate_(aggregate), type_(type), grid_(std::move(grid)), memory_(std::move(memory)) {
  const auto tiles = static_cast<std::size_t>(grid_.tile_count());
  if (aggregate_ == Aggregate::None) finished_.resize(tiles);
  else partial_.resize(tiles);
}

void SlicedResult::add(std::int64_t tile_id, CountedTile tile) {
  const auto slot = static_cast<std::size_t>(tile_id);
  if (aggregate_ == Aggregate::None) {
    CHECK(finished_[slot] == nullptr, "slices fill a result without an aggregate once");
    finished_[slot] = finished(std::move(tile), type_, *memory_);
  } else if (partial_[slot] == nullptr) {
    partial_[slot] = std::make_unique<CountedTile>(std::move(tile));
  } else {
    combine(aggregate_, partial_[slot]->tile, tile.tile);
  }
}

std::shared_ptr<Relation> SlicedResult::finish(const std::function<void(Tile&)>& complete) {
  finished_.resize(partial_.empty() ? finished_.size() : partial_.size());
  for (std::size_t n = 0; n < partial_.size(); ++n) {
    CHECK(partial_[n] != nullptr, "slices fill the whole result");
    complete(partial_[n]->tile);
    finished_[n] = finished(std::move(*partial_[n]), type_, *memory_);
    partial_[n].reset();
  }
  return std::make_shared<Relation>(type_, grid_, std::move(finished_));
}

TilePtr finished(CountedTile tile, DType type, MemoryBudget& memory) {
  auto result = std::move(tile.tile);
  if (result.dtype() != type) result = convert(result, type);
  { const auto given_back = std::move(tile.reservation); }  // the tile takes these bytes over
  return memory.track(std::move(result));
}

}  // namespace eindb
