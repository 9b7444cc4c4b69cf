#pragma once

#include <string>

#include "cluster/worker.hpp"
#include "common/stopwatch.hpp"
#include "server/monitoring/health_pages.hpp"

namespace eindb {

/// The HTTP pages of a worker, /health and /metrics, as for a server. Used by one thread.
class WorkerPages final : public HealthPages {
 public:
  /// Both must outlive it.
  WorkerPages(const Worker& worker, ShardFile& shards) : worker_(worker), shards_(shards) {}

 private:
  Health health() override;
  std::string metrics() const override;

  const Worker& worker_;
  ShardFile& shards_;
  const Stopwatch uptime_;
};

}  // namespace eindb
