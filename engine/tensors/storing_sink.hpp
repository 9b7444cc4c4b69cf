#pragma once

#include <cstdint>
#include <vector>

#include "executor/tile_exchange.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/tile_store.hpp"
#include "storage/tiles/tile_writer.hpp"

namespace eindb {

/// Writes the result to a stored tensor, inside the caller's transaction.
class StoringSink final : public TileSink {
 public:
  /// `has_tiles`: whether the tensor has old tiles, which the new ones replace.
  StoringSink(SqliteConnection& connection, const TileStore& store, bool has_tiles);
  void write(std::int64_t tile_id, TilePtr tile) override;
  bool takes_cells() const override { return true; }
  /// Call after the last tile: removes old tiles that are zero now.
  void finish();

 private:
  SqliteConnection& connection_;
  TileStore store_;
  bool has_tiles_;
  TileWriter writer_;
  std::vector<std::int64_t> written_;  // numbers, where there are old tiles
};

}  // namespace eindb
