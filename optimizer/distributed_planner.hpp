#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "optimizer/partitions/labelling.hpp"
#include "optimizer/partitions/placement.hpp"
#include "plan/distributed_plan.hpp"

namespace eindb {

/// Who takes part in a distributed statement, and how finely they work.
struct ClusterShape {
  std::size_t ranks = 1;
  Rank coordinator = 0;
  std::int64_t computing = 1;       ///< ranks 0 to the largest power of two up to this - 1 compute
  std::int64_t calls_per_rank = 8;  ///< kernel calls wanted of each, for its threads to share
  bool by_collectives = false;      ///< relations move between blocks by collectives (optimizer/redistribution)
  // Tiles are cut, as far as they can be, until:
  double most_tile_bytes = 32 << 20;                                 ///< none is larger
  double most_call_bytes = std::numeric_limits<double>::infinity();  ///< nor are those of one kernel call together

  friend bool operator==(const ClusterShape&, const ClusterShape&) = default;
};

/// How a result is wanted: in the tiles of this grid, at the coordinator or stored where TileHolders of the statement
/// say.
struct DistributedResult {
  TileGrid grid;
  bool stored = false;
};

/// Lays a labelled graph out over ranks, step by step: every vertex, or chain that is computed as one, is computed
/// where `placement` says, after its operands were brought there in the tiles that its kernel calls read; partial
/// results are reduced. Within its block a rank makes more kernel calls than the labelling's one: as its operands are
/// cut already, and then for its threads. What is there in the right tiles already is not moved. `results` has an entry
/// for every output of the graph.
///
/// The steps that scan a stored tensor share one of the plan's holder lists: that of the first ScanStep of that tensor.
/// After those come the lists of stored results, in their order.
/// The graph is in no slices: what does not fit a rank's memory goes to its scratch file. A pure function, whose plan
/// is valid (plan/validator).
/// Example: the chain (A B) C on 4 ranks with vectors [4,1,1] and [2,2,1]: scan A, scan B, redistribute B (everything
/// to all), compute, redistribute AB, scan C, redistribute C, compute, reduce, redistribute to the coordinator.
DistributedPlan plan_distributed(const EinGraph& graph, const Labelling& labelling, const Placement& placement,
                                 const ClusterShape& cluster, const std::vector<DistributedResult>& results);

}  // namespace eindb
