#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "storage/shards/tile_reference.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/tile_store.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// A non-zero tile of a sharded tensor, and its location.
struct StoredReference {
  std::int64_t tile_id = 0;
  TileReference reference;
};

/// All references of a sharded tensor, by tile_id. Error{Corrupt}. Takes the connection's mutex; a fifth of a
/// microsecond each.
std::vector<StoredReference> read_references(SqliteConnection& connection, const TileStore& store);

/// The references of these tiles alone, as far as they are there: for statements that read few of many. Two
/// microseconds each.
std::vector<StoredReference> read_references(SqliteConnection& connection, const TileStore& store,
                                             const std::set<std::int64_t>& tiles);

/// A planner's knowledge about the copies of a tensor's tiles.
struct CopyRules {
  /// The rank of a worker; nullopt if it takes no part. Called with any row number of eindb_workers.
  std::function<std::optional<Rank>(WorkerNumber)> rank_of;
  /// Whether the worker's copy is known to be damaged. Empty: no copy is.
  std::function<bool(WorkerNumber, ContentId)> is_damaged;
  /// Whether the tile is read. Empty: all tiles are.
  std::function<bool(std::int64_t)> is_needed;
};

/// The ranks that hold the tensor's tiles undamaged; if all copies of a tile are damaged, all its workers. A tile that
/// is not needed has no rank. Error{WorkerLost} names a needed tile without any rank, and its workers as recorded
/// in `connection`'s tables.
TileHolders holders_of(SqliteConnection& connection, const TileStore& store,
                       const std::vector<StoredReference>& references, const CopyRules& rules);

/// The same for a tensor stored in the coordinator's own file: that rank holds all tiles.
TileHolders holders_of_own(SqliteConnection& connection, const TileStore& store, Rank coordinator);

}  // namespace eindb
