#pragma once

#include <optional>
#include <string>

#include "engine/cluster_figures.hpp"
#include "engine/worker_counts.hpp"
#include "server/monitoring/metrics.hpp"

namespace eindb {

/// What a worker says of itself.
struct NodeGauges {
  bool is_draining = false;
  bool is_full = false;
  std::int64_t statements = 0;
  std::int64_t memory_used_bytes = 0;
  std::int64_t memory_limit_bytes = 0;
  std::int64_t tiles_stored = 0;
  std::int64_t bytes_stored = 0;
  std::int64_t bytes_free = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  double uptime_seconds = 0;
};

/// What is true at a moment, for one who looks at the server.
struct ServerGauges {
  std::int64_t connections_open = 0;
  std::int64_t connections_active = 0;
  std::int64_t sessions_idle = 0;
  std::int64_t memory_used_bytes = 0;
  std::int64_t memory_kept_bytes = 0;
  std::int64_t memory_limit_bytes = 0;
  std::int64_t database_bytes = 0;
  double start_seconds = 0;  ///< since 1970
  double uptime_seconds = 0;
  std::optional<WorkerCounts> workers = std::nullopt;    ///< absent: the database has none
  std::optional<ClusterFigures> cluster = std::nullopt;  ///< of one that has workers
};

/// All of it in Prometheus's text format, version 0.0.4; docs/operation.md has the names.
std::string metrics_text(const Metrics& metrics, const ServerGauges& gauges);
/// The same of a worker.
std::string metrics_text(const NodeGauges& gauges);

}  // namespace eindb
