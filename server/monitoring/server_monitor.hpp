#pragma once

#include <atomic>
#include <utility>

#include "server/monitoring/client_registry.hpp"
#include "server/monitoring/metrics.hpp"
#include "server/monitoring/server_log.hpp"

namespace eindb {

/// The log, the metrics and the registry of clients of one server. Thread-safe.
struct ServerMonitor {
  explicit ServerMonitor(LogOptions options) : log(std::move(options)) {}
  /// For tests, which read the log from `stream`.
  ServerMonitor(LogOptions options, std::ostream& stream) : log(std::move(options), stream) {}

  ServerLog log;
  Metrics metrics;
  ClientRegistry clients;
  std::atomic<bool> stopping{false};
};

}  // namespace eindb
