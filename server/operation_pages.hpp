#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "common/stopwatch.hpp"
#include "engine/session.hpp"
#include "server/monitoring/health_pages.hpp"
#include "server/monitoring/server_monitor.hpp"
#include "server/sessions/session_pool.hpp"

namespace eindb {

/// The HTTP pages of the server: /health and /metrics. Used by one thread.
class OperationPages final : public HealthPages {
 public:
  /// The sources of the figures. All must outlive the pages.
  struct Sources {
    const ServerMonitor& monitor;
    const SessionPool& read_write;
    const SessionPool& read_only;
    std::string database;
    std::shared_ptr<Cluster> cluster;  ///< null: none
  };

  explicit OperationPages(Sources sources) : sources_(std::move(sources)) {}

 private:
  Health health() override;
  std::string metrics() const override;
  void ask_database();

  const Sources sources_;
  const Stopwatch uptime_;
  const std::chrono::system_clock::time_point start_ = std::chrono::system_clock::now();
  // Not from the pool, since clients may have taken all of its sessions.
  std::unique_ptr<Session> session_;
};

}  // namespace eindb
