#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/plans/planned_query.hpp"
#include "engine/tensors/tile_endpoints.hpp"

namespace eindb {

/// The way of a query's results into tensors of the catalog, inside the caller's transaction: their tiles are written
/// as they come, or collected first and written when all are there. The session's thread; gone before the commit.
class ResultStore {
 public:
  /// `at_workers`: those of sharded tensors are stored by the workers that make them. `collects`: see above. All that
  /// is referred to outlives it.
  ResultStore(SqliteConnection& connection, std::span<const StoredResult> results, bool at_workers, bool collects);

  /// One for each result; what workers store themselves gets no tiles.
  std::span<TileSink* const> sinks() const { return sinks_; }
  /// After the last tile: all of them are in the tables.
  void finish();
  /// In its place, where it collects and no worker stores any: the tiles, of which none is written.
  std::vector<NewTiles> take();

 private:
  SqliteConnection& connection_;
  std::span<const StoredResult> results_;
  std::vector<std::unique_ptr<CollectingSink>> collected_;  // of each result; null: written as they come, or elsewhere
  std::vector<std::unique_ptr<TileSink>> others_;
  std::vector<TileSink*> sinks_;
};

}  // namespace eindb
