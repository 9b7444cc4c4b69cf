#include "shell/worker_pages.hpp"

#include "common/error.hpp"
#include "server/monitoring/metrics_text.hpp"

namespace eindb {

// A worker whose disk hangs is not well, since it cannot answer. One with a full disk is: restarting it would not help.
HealthPages::Health WorkerPages::health() {
  const auto load = worker_.load();
  if (load.draining) return {false, "draining"};
  try {
    worker_.check();
  } catch (const Error&) {
    return {false, "the data directory does not answer"};
  }
  return {true, load.bytes_free > 0 ? "ok" : "ok, but the disk is full"};
}

std::string WorkerPages::metrics() const {
  const auto load = worker_.load();
  const NodeGauges gauges{.is_draining = load.draining,
                          .is_full = load.bytes_free == 0,
                          .statements = load.statements,
                          .memory_used_bytes = load.memory_used,
                          .memory_limit_bytes = worker_.memory_limit(),
                          .tiles_stored = load.tiles_stored,
                          .bytes_stored = load.bytes_stored,
                          .bytes_free = load.bytes_free,
                          .bytes_sent = load.bytes_sent,
                          .bytes_received = load.bytes_received,
                          .uptime_seconds = uptime_.seconds()};
  return metrics_text(gauges);
}

}  // namespace eindb
