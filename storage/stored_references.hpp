#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "storage/sqlite_connection.hpp"
#include "storage/tile_reference.hpp"
#include "storage/tile_store.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// A tile of a sharded tensor that is not all zero, and where it lies.
struct StoredReference {
  std::int64_t tile_id = 0;
  TileReference reference;
};

/// All of a sharded tensor, by tile_id. Error{Corrupt}. Takes the connection's mutex; a fifth of a microsecond each.
std::vector<StoredReference> read_references(SqliteConnection& connection, const TileStore& store);

/// The ranks that hold the tensor's tiles: those of workers that `rank_of` knows, which may be asked for any row of
/// eindb_workers. Error{WorkerLost} names a tile that none of them has, its workers by `connection`'s tables.
TileHolders holders_of(SqliteConnection& connection, const TileStore& store,
                       const std::vector<StoredReference>& references,
                       const std::function<std::optional<Rank>(WorkerNumber)>& rank_of);

/// The same of a tensor whose tiles lie in the coordinator's own file: all at that rank.
TileHolders holders_of_own(SqliteConnection& connection, const TileStore& store, Rank coordinator);

}  // namespace eindb
