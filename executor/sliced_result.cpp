#include "executor/sliced_result.hpp"

#include "common/check.hpp"
#include "executor/kernels/tile_operations.hpp"

namespace eindb {
namespace {

// The released bytes may already be in use for another tile.
MemoryReservation resized(MemoryReservation reservation, const Tile& tile) {
  const auto bytes = static_cast<std::int64_t>(tile.byte_size());
  reservation.shrink_to(bytes);
  reservation.raise_to(bytes);
  return reservation;
}

}  // namespace

SlicedResult::SlicedResult(Aggregate aggregate, DType type, TileGrid grid, std::shared_ptr<MemoryBudget> memory)
    : aggregate_(aggregate),
      type_(type),
      grid_(std::move(grid)),
      memory_(std::move(memory)),
      result_(std::make_shared<Relation>(type_, grid_, memory_)),
      partial_(static_cast<std::size_t>(aggregates() ? grid_.tile_count() : 0)) {}

void SlicedResult::add(std::int64_t tile_id, CountedTile tile) {
  CHECK(tile_id >= 0 && tile_id < grid_.tile_count(), "slices add to tiles of the result");
  const auto slot = static_cast<std::size_t>(tile_id);
  if (!aggregates()) {
    result_->put(tile_id, finished(std::move(tile), type_, *memory_));
  } else if (partial_[slot] == nullptr) {
    partial_[slot] = std::make_unique<CountedTile>(std::move(tile));
  } else {
    combine(aggregate_, partial_[slot]->tile, tile.tile);
  }
}

std::shared_ptr<Relation> SlicedResult::finish(const Missing& missing, const std::function<void(Tile&)>& complete) {
  CHECK(result_ != nullptr, "a result of slices is put together once");
  for (std::size_t n = 0; n < partial_.size(); ++n) {
    auto sum = std::move(partial_[n]);
    if (sum == nullptr) {
      auto zeros = missing(static_cast<std::int64_t>(n));
      if (!zeros) continue;
      sum = std::make_unique<CountedTile>(std::move(*zeros));
    }
    complete(sum->tile);
    result_->put(static_cast<std::int64_t>(n), finished(std::move(*sum), type_, *memory_));
  }
  return std::move(result_);
}

TilePtr finished(CountedTile tile, DType type, MemoryBudget& memory) {
  auto& result = tile.tile;
  if (result.dtype() != type) {
    auto converted = convert(result, type);
    if (converted.is_all_zero()) return nullptr;
    { const auto gone = std::move(result); }
    return memory.track(CountedTile{resized(std::move(tile.reservation), converted), std::move(converted)});
  }
  if (result.is_all_zero()) return nullptr;
  tile.reservation = resized(std::move(tile.reservation), result);
  return memory.track(std::move(tile));
}

}  // namespace eindb
