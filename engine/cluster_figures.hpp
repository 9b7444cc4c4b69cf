#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"

namespace eindb {

/// A worker of a cluster, for one who looks at it.
struct WorkerFigures {
  std::string address;
  bool is_up = false;
  bool is_full = false;
  std::int64_t bytes_stored = 0;
  std::int64_t bytes_free = 0;
};

/// The workers as they are at a moment, and damaged and repaired copies counted since the coordinator began.
struct ClusterFigures {
  std::vector<WorkerFigures> workers;
  std::int64_t copies_damaged = 0;
  std::int64_t copies_repaired = 0;
};

ClusterFigures figures_of(const Cluster& cluster);

}  // namespace eindb
