#pragma once

#include <cstdint>

namespace eindb {

/// The form of eindb's own tables that this version writes.
inline constexpr std::int64_t kSchemaVersion = 1;
/// The form of files that know workers (storage/shards/shard_log.hpp), which others do not need. Later ones are
/// refused.
inline constexpr std::int64_t kShardedSchemaVersion = 2;

}  // namespace eindb
