#include "executor/tile_reduction.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "executor/kernels/tile_operations.hpp"
#include "executor/sliced_result.hpp"

namespace eindb {

TileReduction::TileReduction(const JoinNode& join, const NeededPieces& needed, Relation* source, Relation& result,
                             std::shared_ptr<MemoryBudget> memory)
    : join_(join),
      needed_(needed),
      source_(source),
      result_(result),
      memory_(std::move(memory)),
      epilogue_(join.einsum, join.compute_dtype),
      courses_(needed.target_count()),
      has_arrived_(static_cast<std::size_t>(needed.elsewhere_count())),
      early_(memory_, needed.elsewhere_count()),
      combined_(memory_, static_cast<std::int64_t>(needed.target_count())) {
  CHECK(join.einsum.aggregate != Aggregate::None, "partial results are aggregated");
  for (std::size_t n = 0; n < courses_.size(); ++n) courses_[n].next = needed.begin(n);
}

void TileReduction::take(std::size_t piece, CountedTile tile) {
  const auto target = needed_.target_of(piece);
  const auto number = needed_[piece].number;
  const std::lock_guard lock(mutex_of(target));
  CHECK(needed_.is_elsewhere(piece) && has_arrived_[number] == 0, "a piece arrives once, from another rank");
  go_on(target, false);
  has_arrived_[number] = 1;
  if (courses_[target].next != piece) return early_.put(number, memory_->track(std::move(tile)));
  add(target, std::move(tile));
  go_on(target, false);
}

void TileReduction::finish(std::size_t target) {
  const std::lock_guard lock(mutex_of(target));
  go_on(target, true);
}

// Combines available pieces as far as possible. Nothing has changed if there is no room for the next piece.
void TileReduction::go_on(std::size_t target, bool all_have_come) {
  const auto& next = courses_[target].next;
  while (next < needed_.begin(target + 1)) {
    const auto piece = next;
    const bool pending = needed_.is_elsewhere(piece) && has_arrived_[needed_[piece].number] == 0;
    if (pending && !all_have_come) return;
    add_shared(target, pending ? nullptr : find(piece));
    let_go(piece);
  }
}

TilePtr TileReduction::find(std::size_t piece) {
  CHECK(needed_.is_elsewhere(piece) || source_ != nullptr, "a partial result that is here was computed here");
  return needed_.is_elsewhere(piece) ? early_.get(needed_[piece].number) : source_->tile(needed_[piece].source);
}

void TileReduction::let_go(std::size_t piece) {
  if (needed_.is_elsewhere(piece)) early_.drop(needed_[piece].number);
}

// An absent tile is all zero: neutral for a sum, a value for every other aggregate.
void TileReduction::add_shared(std::size_t target, const TilePtr& tile) {
  const bool is_nothing = tile == nullptr && join_.einsum.aggregate == Aggregate::Sum;
  if (is_nothing && !is_last(target)) {
    ++courses_[target].next;
    return;
  }
  if (!is_nothing && (tile == nullptr || courses_[target].begun))
    return add(target, tile == nullptr ? zeros(target) : copy_of(*tile));
  const auto combined = is_nothing ? combined_.get(static_cast<std::int64_t>(target)) : tile;
  const auto result = is_last(target) ? final_tile(target, combined) : combined;
  courses_[target].begun = combined != nullptr;
  advance(target, result);
}

// The newer tile receives the result, whichever rank it is from, so the result is always the same.
void TileReduction::add(std::size_t target, CountedTile tile) {
  if (courses_[target].begun) combine(join_.einsum, tile.tile, *combined_.get(static_cast<std::int64_t>(target)));
  auto result = is_last(target) ? final_tile(std::move(tile)) : memory_->track(std::move(tile));
  courses_[target].begun = true;
  advance(target, std::move(result));
}

void TileReduction::advance(std::size_t target, TilePtr combined) {
  CHECK(courses_[target].next < needed_.begin(target + 1), "a tile is complete with its last piece");
  const auto slot = static_cast<std::int64_t>(target);
  combined_.drop(slot);
  if (is_last(target)) result_.put(needed_.target(target), std::move(combined));
  else combined_.put(slot, std::move(combined));
  ++courses_[target].next;
}

TilePtr TileReduction::final_tile(std::size_t target, const TilePtr& combined) {
  if (combined == nullptr) return epilogue_.keeps_zero() ? nullptr : final_tile(zeros(target));
  if (epilogue_ || combined->dtype() != result_.dtype()) return final_tile(copy_of(*combined));
  return combined->is_all_zero() ? nullptr : combined;
}

TilePtr TileReduction::final_tile(CountedTile combined) {
  epilogue_.apply(combined.tile);
  return finished(std::move(combined), result_.dtype(), *memory_);
}

CountedTile TileReduction::copy_of(const Tile& tile) const {
  auto copy = counted_tile(memory_, tile.dtype(), tile.shape());
  std::copy(tile.bytes().begin(), tile.bytes().end(), copy.tile.mutable_bytes().begin());
  return copy;
}

CountedTile TileReduction::zeros(std::size_t target) const {
  const auto& grid = result_.grid();
  auto tile = counted_tile(memory_, join_.compute_dtype, grid.tile_shape(grid.key_of(needed_.target(target))));
  const auto bytes = tile.tile.mutable_bytes();
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  return tile;
}

}  // namespace eindb
