#pragma once

#include <string>

#include "server/metrics.hpp"

namespace eindb {

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
};

/// All of it in Prometheus's text format, version 0.0.4; docs/operation.md has the names.
std::string metrics_text(const Metrics& metrics, const ServerGauges& gauges);

}  // namespace eindb
