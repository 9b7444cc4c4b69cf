#pragma once

#include <cstdint>
#include <memory>

#include "engine/settings/admission.hpp"
#include "engine/settings/client_policy.hpp"
#include "engine/settings/settings.hpp"

namespace eindb {

class Cluster;
class ShardAccess;
class TileCachePool;

/// The options for opening a session.
struct SessionOptions {
  bool read_only = false;
  std::int64_t statement_timeout_ms = 0;  ///< the default of the setting statement_timeout
  /// The policy of a server for its clients. Null: no restrictions for whoever opens the file.
  std::shared_ptr<const ClientPolicy> policy = nullptr;
  /// The gate that is asked before a query runs, or a file is read or written; null: everything begins at once.
  std::shared_ptr<AdmissionGate> gate = nullptr;
  /// Shared by sessions that keep tiles in the same memory; null: each session has its own cache, sized by its
  /// settings.
  std::shared_ptr<TileCachePool> tile_caches = nullptr;
  /// The workers that store new sharded tensors; null: tensors lie in the database's own file. For one database only.
  std::shared_ptr<ShardAccess> shards = nullptr;
  /// The cluster whose workers run the session's queries and hold its shards; null: none. For one database only.
  std::shared_ptr<Cluster> cluster = nullptr;
  SmallStatements small_statements = SmallStatements::Here;  ///< the default of the setting small_statements
};

/// The settings that a session begins with.
Settings initial_settings(const SessionOptions& options);

}  // namespace eindb
