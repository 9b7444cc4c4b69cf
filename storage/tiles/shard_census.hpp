#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "storage/shards/tile_reference.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// Calls `take` with the reference of every tile of every sharded tensor, grouped by tensor. Error{Corrupt}.
void for_each_reference(
    SqliteConnection& connection,
    const std::function<void(const std::string& tensor, std::int64_t tile_id, const TileReference&)>& take);

}  // namespace eindb
