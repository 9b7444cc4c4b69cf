#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace eindb {

class Cluster;

/// How a cluster's workers are, for those who watch it.
struct WorkerCounts {
  /// By the states' names, as SHOW WORKERS has them.
  std::array<std::pair<std::string_view, std::int64_t>, 5> by_state;
  std::int64_t broken_pairs = 0;  ///< of nodes between which no data goes
};

WorkerCounts worker_counts(const Cluster& cluster);

}  // namespace eindb
