#pragma once

#include <string>

#include "cluster/worker.hpp"
#include "common/stopwatch.hpp"
#include "server/monitoring/health_pages.hpp"

namespace eindb {

/// The HTTP pages of a worker, /health and /metrics, as for a server. Used by one thread.
class WorkerPages final : public HealthPages {
 public:
  /// The worker must outlive it.
  explicit WorkerPages(const Worker& worker) : worker_(worker) {}

 private:
  Health health() override;
  std::string metrics() const override;

  const Worker& worker_;
  const Stopwatch uptime_;
};

}  // namespace eindb
