#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/plans/planned_query.hpp"
#include "engine/tensors/tile_endpoints.hpp"

namespace eindb {

/// Writes the tiles of a result, cut evenly, over those of its tensor, inside the caller's transaction.
void write_result(SqliteConnection& connection, const StoredResult& result, BufferedTiles& tiles);

/// Stores a query's results in tensors of the catalog, inside the caller's transaction. Tiles are written as they
/// arrive, or collected and written when all are there. Used by the session's thread; destroyed before the commit.
class ResultStore {
 public:
  /// `at_workers`: the workers that make the tiles of sharded tensors store them. `collects`: tiles are collected
  /// first. The arguments must outlive the object.
  ResultStore(SqliteConnection& connection, std::span<const StoredResult> results, bool at_workers, bool collects);

  /// One sink per result; results that workers store get no tiles.
  std::span<TileSink* const> sinks() const { return sinks_; }
  /// Call after the last tile. All tiles are in the tables on return.
  void finish();
  /// Returns the tiles unwritten, in place of finish(). Only if the store collects and workers store no result.
  std::vector<NewTiles> take();

 private:
  SqliteConnection& connection_;
  std::span<const StoredResult> results_;
  // By result; null if its tiles are written on arrival or stored by workers.
  std::vector<std::unique_ptr<CollectingSink>> collected_;
  std::vector<std::unique_ptr<TileSink>> others_;
  std::vector<TileSink*> sinks_;
};

}  // namespace eindb
