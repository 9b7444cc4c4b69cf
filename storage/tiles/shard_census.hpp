#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "storage/shards/tile_reference.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A sharded tensor.
struct ShardedTensor {
  std::string name;
  std::string table;  ///< of its tiles
  int replicas = 1;   ///< copies that are wanted of each tile
};

/// A tile that is not zero of a sharded tensor.
struct ShardedTile {
  std::shared_ptr<const ShardedTensor> tensor;
  std::int64_t tile_id = 0;
  TileReference reference;
};

/// Calls `take` with every tile of every sharded tensor, grouped by tensor. Error{Corrupt}.
void for_each_reference(SqliteConnection& connection, const std::function<void(ShardedTile)>& take);

}  // namespace eindb
