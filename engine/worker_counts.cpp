#include "engine/worker_counts.hpp"

#include "cluster/cluster.hpp"
#include "common/check.hpp"

namespace eindb {

WorkerCounts worker_counts(const Cluster& cluster) {
  WorkerCounts counts;
  for (std::size_t n = 0; n < counts.by_state.size(); ++n)
    counts.by_state[n].first = name_of(static_cast<WorkerState>(n));
  for (const auto& worker : cluster.workers()) {
    const auto state = static_cast<std::size_t>(worker.state);
    CHECK(state < counts.by_state.size(), "every state of a worker is counted");
    ++counts.by_state[state].second;
  }
  counts.broken_pairs = static_cast<std::int64_t>(cluster.broken_pairs().size());
  return counts;
}

}  // namespace eindb
