#include "engine/cluster_figures.hpp"

namespace eindb {

ClusterFigures figures_of(const Cluster& cluster) {
  ClusterFigures figures;
  for (const auto& worker : cluster.workers())
    figures.workers.push_back({.address = worker.address,
                               .is_up = worker.state == WorkerState::Up,
                               .is_full = worker.is_full(),
                               .bytes_stored = worker.load.bytes_stored,
                               .bytes_free = worker.load.bytes_free});
  figures.copies_damaged = cluster.damaged_copies().noticed();
  figures.copies_repaired = cluster.damaged_copies().repaired();
  return figures;
}

}  // namespace eindb
