#pragma once

#include <map>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "executor/tile_exchange.hpp"
#include "plan/ein_graph.hpp"
#include "storage/read_snapshot.hpp"
#include "storage/tile_store.hpp"

namespace eindb {

/// Tiles of the catalog's tensors, all from one snapshot of the database.
class StoredTiles final : public TileSource {
 public:
  StoredTiles(ReadSnapshot& snapshot, Catalog& catalog, const std::vector<InputTensor>& tensors);
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override;

 private:
  ReadSnapshot& snapshot_;
  std::map<std::string, TileStore> stores_;
};

/// The tile itself, or a copy of one that lies in somebody else's memory.
TilePtr owned(TilePtr tile);

/// Keeps the result in memory, its own.
class CollectingSink final : public TileSink {
 public:
  explicit CollectingSink(std::int64_t tile_count) : tiles_(static_cast<std::size_t>(tile_count)) {}
  void write(std::int64_t tile_id, TilePtr tile) override {
    tiles_[static_cast<std::size_t>(tile_id)] = owned(std::move(tile));
  }
  std::vector<TilePtr> take() { return std::move(tiles_); }

 private:
  std::vector<TilePtr> tiles_;
};

/// Lets the result go: for EXPLAIN ANALYZE.
class DiscardingSink final : public TileSink {
 public:
  void write(std::int64_t, TilePtr) override {}
};

/// Writes the result to a stored tensor, inside the caller's transaction.
class StoringSink final : public TileSink {
 public:
  StoringSink(SqliteConnection& connection, const TileStore& store) : writer_(connection, store) {}
  void write(std::int64_t tile_id, TilePtr tile) override {
    if (tile != nullptr) writer_.write(tile_id, *tile);
  }

 private:
  TileWriter writer_;
};

}  // namespace eindb
