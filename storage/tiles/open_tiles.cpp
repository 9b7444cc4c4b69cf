#include "storage/tiles/open_tiles.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

/// Memory of an entry beside the values of its tile.
constexpr std::int64_t kEntryBytes = 512;

}  // namespace

OpenTiles::OpenTiles(SqliteConnection& connection, const TileStore& store, std::int64_t memory, Content content)
    : connection_(connection),
      store_(store),
      writer_(connection, store),
      memory_(memory),
      highest_stored_(content == Content::Zeros ? -1 : std::numeric_limits<std::int64_t>::max()) {}

std::int64_t OpenTiles::cost_of(const Tile& tile) { return static_cast<std::int64_t>(tile.byte_size()) + kEntryBytes; }

void OpenTiles::Entry::note(Elements changed) {
  const auto all = tile.shape().element_count();
  DCHECK(changed.first >= 0 && (changed.count == kAll.count || changed.count <= all - changed.first),
         "elements that are changed lie in their tile");
  begin = std::min(begin, changed.first);
  end = std::max(end, changed.count >= all ? all : changed.first + changed.count);
}

Tile& OpenTiles::open(std::int64_t tile_id, Elements changed) {
  if (const auto found = by_id_.find(tile_id); found != by_id_.end()) {
    tiles_.splice(tiles_.begin(), tiles_, found->second);
    tiles_.front().note(changed);
    return tiles_.front().tile;
  }
  // Makes room for one more tile of the same size.
  while (!tiles_.empty() && used_ + cost_of(tiles_.back().tile) > memory_) {
    write(tiles_.back());
    used_ -= cost_of(tiles_.back().tile);
    by_id_.erase(tiles_.back().tile_id);
    tiles_.pop_back();
  }
  CHECK(used_ >= 0 && (used_ == 0) == tiles_.empty(), "tiles that are closed take no memory");
  tiles_.push_front(load(tile_id));
  tiles_.front().note(changed);
  by_id_.emplace(tile_id, tiles_.begin());
  used_ += cost_of(tiles_.front().tile);
  CHECK(by_id_.size() == tiles_.size(), "each open tile is found by its number");
  return tiles_.front().tile;
}

OpenTiles::Entry OpenTiles::load(std::int64_t tile_id) {
  const auto shape = store_.grid().tile_shape(store_.grid().key_of(tile_id));
  const auto stored = tile_id <= highest_stored_ ? store_.read(connection_, tile_id) : nullptr;
  if (stored == nullptr) return {tile_id, Tile::zeros(store_.dtype(), shape), false};
  ++read_;
  auto tile = Tile::uninitialized(store_.dtype(), shape);
  CHECK(stored->byte_size() == tile.byte_size(), "a stored tile has the size of its place");
  std::memcpy(tile.mutable_bytes().data(), stored->bytes().data(), tile.byte_size());
  return {tile_id, std::move(tile), true};
}

void OpenTiles::write(const Entry& entry) {
  if (entry.is_stored) writer_.replace(entry.tile_id, entry.tile, entry.begin, entry.end);
  else writer_.write(entry.tile_id, entry.tile);
  highest_stored_ = std::max(highest_stored_, entry.tile_id);
  ++written_;
}

void OpenTiles::flush() {
  tiles_.sort([](const Entry& a, const Entry& b) { return a.tile_id < b.tile_id; });
  DCHECK(std::ranges::adjacent_find(tiles_, std::greater_equal(), &Entry::tile_id) == tiles_.end(),
         "a tile is open once");
  for (const auto& entry : tiles_) write(entry);
  tiles_.clear();
  by_id_.clear();
  used_ = 0;
}

}  // namespace eindb
