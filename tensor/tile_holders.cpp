#include "tensor/tile_holders.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {

void TileHolders::add(std::span<const Rank> ranks, std::int64_t tiles) {
  CHECK(tiles >= 0, "holders are those of some tiles");
  if (tiles == 0) return;
  const auto end = checked_add(tile_count(), tiles);
  if (!ends_.empty() && std::ranges::equal(run(run_count() - 1).ranks, ranks)) {
    ends_.back() = end;
    return;
  }
  ranks_.insert(ranks_.end(), ranks.begin(), ranks.end());
  begin_.push_back(ranks_.size());
  ends_.push_back(end);
  DCHECK(begin_.size() == ends_.size() + 1, "each run has its ranks");
}

std::span<const Rank> TileHolders::of(std::int64_t tile_id) const {
  CHECK(tile_id >= 0 && tile_id < tile_count(), "a tile that is looked for is one of the grid");
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), tile_id);
  return run(static_cast<std::size_t>(found - ends_.begin())).ranks;
}

bool TileHolders::holds(Rank rank, std::int64_t tile_id) const { return contains(of(tile_id), rank); }

std::size_t TileHolders::held_bytes() const {
  return ends_.size() * sizeof(std::int64_t) + begin_.size() * sizeof(std::size_t) + ranks_.size() * sizeof(Rank);
}

bool TileHolders::contains(std::span<const Rank> ranks, Rank rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

}  // namespace eindb
