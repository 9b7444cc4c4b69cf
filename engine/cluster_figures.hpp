#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"

namespace eindb {

/// The state of one worker, for display.
struct WorkerFigures {
  std::string address;
  bool is_up = false;
  bool is_full = false;
  std::int64_t bytes_stored = 0;
  std::int64_t bytes_free = 0;
  std::int64_t tiles_to_move = 0;  ///< that are to be at other workers
};

/// The current state of the workers; and what was damaged, repaired and moved since the coordinator started.
struct ClusterFigures {
  std::vector<WorkerFigures> workers;
  std::int64_t copies_damaged = 0;
  std::int64_t copies_repaired = 0;
  std::int64_t tiles_moved = 0;
  std::int64_t bytes_moved = 0;
  std::int64_t standbys_behind = 0;  ///< copies of the coordinator's file that lack something
};

ClusterFigures figures_of(const Cluster& cluster);

}  // namespace eindb
