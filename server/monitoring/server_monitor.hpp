#pragma once

#include <atomic>
#include <utility>

#include "server/monitoring/client_registry.hpp"
#include "server/monitoring/metrics.hpp"
#include "server/monitoring/server_log.hpp"

namespace eindb {

/// What tells people of the server, one for all of it: its log, its counters, and who is connected. Thread-safe.
struct ServerMonitor {
  explicit ServerMonitor(LogOptions options) : log(std::move(options)) {}
  /// For tests, which read `stream`.
  ServerMonitor(LogOptions options, std::ostream& stream) : log(std::move(options), stream) {}

  ServerLog log;
  Metrics metrics;
  ClientRegistry clients;
  std::atomic<bool> stopping{false};
};

}  // namespace eindb
