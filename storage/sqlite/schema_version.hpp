#pragma once

#include <cstdint>

namespace eindb {

/// The version of eindb's own tables that this release writes.
inline constexpr std::int64_t kSchemaVersion = 1;
/// The version of files with sharded tensors (storage/shards/shard_log.hpp); other files keep kSchemaVersion. Later
/// versions are refused.
inline constexpr std::int64_t kShardedSchemaVersion = 2;

}  // namespace eindb
