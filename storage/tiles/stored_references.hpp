#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "storage/shards/tile_reference.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/tile_store.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// A tile of a sharded tensor that is not all zero, and where it lies.
struct StoredReference {
  std::int64_t tile_id = 0;
  TileReference reference;
};

/// All of a sharded tensor, by tile_id. Error{Corrupt}. Takes the connection's mutex; a fifth of a microsecond each.
std::vector<StoredReference> read_references(SqliteConnection& connection, const TileStore& store);

/// What somebody who plans knows of a tensor's copies.
struct CopyRules {
  /// The worker's rank; nullopt if it has none. Asked for any row of eindb_workers.
  std::function<std::optional<Rank>(WorkerNumber)> rank_of;
  /// Whether the worker's copy is known to be no good. Empty: none is.
  std::function<bool(WorkerNumber, ContentId)> is_damaged;
  /// Whether the tile is read. Empty: all are.
  std::function<bool(std::int64_t)> is_needed;
};

/// The ranks that hold the tensor's tiles undamaged, or all of its workers where all have damaged it. A tile that is
/// not needed may have none. Error{WorkerLost} names a tile that is, and that none of them has, its workers by
/// `connection`'s tables.
TileHolders holders_of(SqliteConnection& connection, const TileStore& store,
                       const std::vector<StoredReference>& references, const CopyRules& rules);

/// The same of a tensor whose tiles lie in the coordinator's own file: all at that rank.
TileHolders holders_of_own(SqliteConnection& connection, const TileStore& store, Rank coordinator);

}  // namespace eindb
