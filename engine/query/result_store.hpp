#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/plans/planned_query.hpp"
#include "engine/tensors/storing_sink.hpp"
#include "engine/tensors/tile_endpoints.hpp"

namespace eindb {

/// Writes the tiles of a result, cut evenly, over those of its tensor, inside the caller's transaction.
void write_result(SqliteConnection& connection, const StoredResult& result, BufferedTiles& tiles);

/// Stores a query's results in tensors of the catalog, inside the caller's transaction. Tiles are written as they
/// arrive, or collected and written when all are there. Used by the session's thread; destroyed before the commit.
class ResultStore {
 public:
  /// How the store treats the tiles that it gets.
  enum class Way {
    Write,    ///< the store writes each tile as it arrives
    Collect,  ///< the store collects all tiles, and finish() writes them
    Keep,     ///< the store collects all tiles, and the caller takes them with take()
  };
  /// `at_workers`: the workers that make the tiles of sharded tensors store them. The arguments must outlive the
  /// object.
  ResultStore(SqliteConnection& connection, std::span<const StoredResult> results, bool at_workers, Way way);

  /// One sink per result; results that workers store get no tiles.
  std::span<TileSink* const> sinks() const { return sinks_; }
  /// Call after the last tile. All tiles are in the tables on return.
  void finish();
  /// Returns the tiles unwritten, in place of finish(). Only if the store keeps them and workers store no result.
  std::vector<NewTiles> take();

 private:
  SqliteConnection& connection_;
  std::span<const StoredResult> results_;
  // By result: where its tiles go; both are null if workers store it.
  std::vector<std::unique_ptr<CollectingSink>> collected_;
  std::vector<std::unique_ptr<StoringSink>> storing_;
  DiscardingSink at_workers_;
  std::vector<TileSink*> sinks_;
};

}  // namespace eindb
