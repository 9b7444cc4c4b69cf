#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "cluster/cluster.hpp"
#include "cluster/worker_node.hpp"
#include "common/error.hpp"

namespace eindb::runner {

/// The cluster of a script's database.
class ScriptCluster {
 public:
  virtual ~ScriptCluster() = default;
  virtual Cluster& cluster() = 0;

  /// Waits until all workers have joined. Call after a session has begun.
  void wait_for_workers() {
    constexpr std::chrono::seconds kPatience{240};
    for (const auto& worker : cluster().wait_for_workers(kPatience))
      if (worker.state != WorkerState::Up) throw Error(ErrorKind::WorkerLost, "a worker of a test: " + worker.reason);
  }
};

class SilentLog final : public NodeLog {
 public:
  void write(Level, std::string_view, std::string_view, std::string_view) noexcept override {}
};

/// The resources of workers in tests.
inline WorkerOptions worker_options() {
  return {.program = "test", .threads = 1, .memory_limit = std::int64_t{256} << 20U, .scratch_directory = {}};
}

}  // namespace eindb::runner
