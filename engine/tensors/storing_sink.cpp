#include "engine/tensors/storing_sink.hpp"

#include <algorithm>
#include <optional>

namespace eindb {

StoringSink::StoringSink(SqliteConnection& connection, const TileStore& store, bool has_tiles)
    : connection_(connection), store_(store), has_tiles_(has_tiles), writer_(connection, store) {}

void StoringSink::write(std::int64_t tile_id, TilePtr tile) {
  if (tile == nullptr) return;
  if (!has_tiles_) return writer_.write(tile_id, *tile);
  writer_.replace(tile_id, *tile);
  written_.push_back(tile_id);
}

void StoringSink::finish() {
  if (!has_tiles_) return;
  std::sort(written_.begin(), written_.end());
  std::vector<std::int64_t> gone;
  {
    StoredTileIds stored(connection_, store_);
    auto kept = written_.begin();
    for (auto id = stored.next(0); id; id = stored.next(*id + 1)) {
      kept = std::lower_bound(kept, written_.end(), *id);
      if (kept == written_.end() || *kept != *id) gone.push_back(*id);
    }
  }
  for (const auto id : gone) writer_.clear(id);
}

}  // namespace eindb
