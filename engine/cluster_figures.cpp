#include "engine/cluster_figures.hpp"

namespace eindb {

ClusterFigures figures_of(const Cluster& cluster) {
  ClusterFigures figures;
  for (const auto& worker : cluster.workers()) {
    if (worker.standby == StandbyState::Copying || worker.standby == StandbyState::Behind) ++figures.standbys_behind;
    figures.workers.push_back({.address = worker.address,
                               .is_up = worker.state == WorkerState::Up,
                               .is_full = worker.is_full(),
                               .bytes_stored = worker.load.bytes_stored,
                               .bytes_free = worker.load.bytes_free,
                               .tiles_to_move = worker.to_move.tiles});
  }
  figures.copies_damaged = cluster.damaged_copies().noticed();
  figures.copies_repaired = cluster.damaged_copies().repaired();
  figures.tiles_moved = cluster.move_progress().tiles_moved();
  figures.bytes_moved = cluster.move_progress().bytes_moved();
  return figures;
}

}  // namespace eindb
