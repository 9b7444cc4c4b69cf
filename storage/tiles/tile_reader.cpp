#include "storage/tiles/tile_reader.hpp"

#include <memory>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

/// Memory of an entry beside its tile; absent tiles have entries too.
constexpr std::int64_t kCachedEntryBytes = 128;

}  // namespace

StoredTileReader::StoredTileReader(SqliteConnection& connection, TileStore store, std::int64_t kept_bytes,
                                   std::function<void()> verify)
    : connection_(connection), store_(std::move(store)), kept_bytes_(kept_bytes), verify_(std::move(verify)) {}

void StoredTileReader::attach() {
  verify_();
  ++attached_;
}

void StoredTileReader::detach() noexcept {
  if (--attached_ == 0) forget();
}

void StoredTileReader::begin_scan() {
  const auto version = connection_.data_version();
  if (std::exchange(data_version_, version) != version) forget();
}

TilePtr StoredTileReader::read(std::int64_t tile_id) {
  DCHECK(attached_ > 0, "tiles are read for somebody who is attached");
  if (by_id_.contains(tile_id)) return found(tile_id);
  connection_.check_cancelled();
  if (is_in_gap(tile_id)) return nullptr;
  auto tile = store_.read(connection_, tile_id);
  if (tile == nullptr) find_gap(tile_id);
  keep(tile_id, tile);
  return tile;
}

TilePtr StoredTileReader::read_cells(std::int64_t tile_id) {
  if (by_id_.contains(~tile_id)) return found(~tile_id);
  if (by_id_.contains(tile_id) || is_in_gap(tile_id)) return read(tile_id);
  connection_.check_cancelled();
  auto tile = store_.read_as_cells(connection_, tile_id);
  if (tile == nullptr) return read(tile_id);
  keep(~tile_id, tile);
  return tile;
}

TilePtr StoredTileReader::found(std::int64_t tile_id) {
  const auto entry = by_id_.at(tile_id);
  kept_.splice(kept_.begin(), kept_, entry);
  return entry->tile;
}

std::optional<std::int64_t> StoredTileReader::next(std::int64_t from) {
  DCHECK(attached_ > 0, "tiles are looked for for somebody who is attached");
  connection_.check_cancelled();
  if (!is_in_gap(from)) find_gap(from);
  return gap_.end < store_.grid().tile_count() ? std::optional(gap_.end) : std::nullopt;
}

// The scanning connection may have written since.
bool StoredTileReader::is_in_gap(std::int64_t tile_id) {
  return gap_.begin <= tile_id && tile_id < gap_.end && gap_.version == connection_.data_version();
}

void StoredTileReader::find_gap(std::int64_t tile_id) {
  const auto version = connection_.data_version();
  const auto next = StoredTileIds(connection_, store_).next(tile_id);
  gap_ = {.begin = tile_id, .end = next.value_or(store_.grid().tile_count()), .version = version};
}

void StoredTileReader::keep(std::int64_t tile_id, TilePtr tile) {
  const auto bytes = kCachedEntryBytes + (tile == nullptr ? 0 : static_cast<std::int64_t>(tile->byte_size()));
  kept_.push_front({tile_id, std::move(tile), bytes});
  by_id_[tile_id] = kept_.begin();
  bytes_ += bytes;
  while (bytes_ > kept_bytes_ && kept_.size() > 1) {
    bytes_ -= kept_.back().bytes;
    by_id_.erase(kept_.back().tile_id);
    kept_.pop_back();
  }
  CHECK(by_id_.size() == kept_.size() && bytes_ >= bytes, "what is kept is found by its number and counted");
}

void StoredTileReader::forget() noexcept {
  by_id_.clear();
  kept_.clear();
  bytes_ = 0;
  gap_ = {};
}

}  // namespace eindb
