#pragma once

#include <optional>
#include <string>

#include "engine/cluster_figures.hpp"
#include "engine/worker_counts.hpp"
#include "server/monitoring/metrics.hpp"

namespace eindb {

/// The current figures of a worker.
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

/// The current figures of a server.
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
  std::optional<WorkerCounts> workers = std::nullopt;    ///< nullopt: the database has no workers
  std::optional<ClusterFigures> cluster = std::nullopt;  ///< of a database with workers
};

/// All metrics in Prometheus's text format, version 0.0.4; docs/operation.md lists the names.
std::string metrics_text(const Metrics& metrics, const ServerGauges& gauges);
/// The metrics of a worker.
std::string metrics_text(const NodeGauges& gauges);

}  // namespace eindb
