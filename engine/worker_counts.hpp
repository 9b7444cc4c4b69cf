#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace eindb {

class Cluster;

/// The state of a cluster's workers, for monitoring.
struct WorkerCounts {
  /// By name of the state, as in SHOW WORKERS.
  std::array<std::pair<std::string_view, std::int64_t>, 5> by_state;
  std::int64_t broken_pairs = 0;  ///< pairs of nodes that exchange no data
};

WorkerCounts worker_counts(const Cluster& cluster);

}  // namespace eindb
