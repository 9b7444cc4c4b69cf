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

/// What a session is opened with.
struct SessionOptions {
  bool read_only = false;
  std::int64_t statement_timeout_ms = 0;  ///< what the setting statement_timeout is by default
  /// Of a server, whose clients the statements are: without, whoever opens the file may do everything.
  std::shared_ptr<const ClientPolicy> policy = nullptr;
  /// Asked before a query runs, or a file is read or written; null: everything begins at once.
  std::shared_ptr<AdmissionGate> gate = nullptr;
  /// Shared by sessions that keep tiles in the same memory; null: each has what its settings say.
  std::shared_ptr<TileCachePool> tile_caches = nullptr;
  /// The workers where tensors that are made lie sharded; null: in the database's own file. Of one database alone.
  std::shared_ptr<ShardAccess> shards = nullptr;
  /// Whose workers run the session's queries, and have its shards; null: none. Of one database alone.
  std::shared_ptr<Cluster> cluster = nullptr;
};

/// The settings that a session begins with.
Settings initial_settings(const SessionOptions& options);

}  // namespace eindb
