#pragma once

#include <optional>

#include "optimizer/redistribution/collective_costs.hpp"
#include "plan/redistribution_plan.hpp"

namespace eindb {

struct RedistributionOptions {
  CollectiveCosts costs;  ///< the paper's, or those that were measured
  /// Elements that a rank may hold, where that is more than the largest block of source and target. It allows
  /// "allgather everything, then dynslice" where that is quicker, as it is for small tensors on slow networks.
  std::int64_t memory = 0;
  /// Whether exchange_directly() is among the plans: it needs measured costs, as by elements it is never dearer.
  bool allow_direct = false;
};

/// The cheapest way that was found from one placement of a tensor to another by collectives: the shortest path over
/// weak types, made concrete with at most one permutation; or gather_then_slice(), if it is cheaper and memory allows
/// it, or exchange_directly(). Of equally short paths the one whose permutation is the cheapest. No rank ever holds a
/// block larger than the largest of source and target, or than options.memory.
///
/// Where collectives do not lead there (ranks that hold a block in one placement only, blocks with unequally many
/// holders, uneven extents with no path within memory) the plan is exchange_directly().
RedistributionPlan plan_redistribution(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target,
                                       const RedistributionOptions& options = {});
/// As above. Throws Error{Shape} if the tensors differ, Error{Value} if the meshes do.
RedistributionPlan plan_redistribution(const DistributedType& source, const DistributedType& target,
                                       const RedistributionOptions& options = {});

/// The fallback: every rank gathers the whole tensor, whatever memory that takes, and keeps its block. nullopt where
/// collectives do not lead there.
std::optional<RedistributionPlan> gather_then_slice(const Shape& shape, const BlockPlacement& source,
                                                    const BlockPlacement& target, const CollectiveCosts& costs = {});

/// One exchange in which every rank receives exactly what it lacks, each piece from a rank that has it; of several,
/// from the one that sends the least so far. Where all ranks reach each other equally well it moves the fewest bytes
/// that any plan can, in up to as many messages per rank as there are ranks. Its cost is what the busiest rank
/// receives and packs. Every block of the source that is wanted must have a holder.
RedistributionPlan exchange_directly(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target,
                                     const CollectiveCosts& costs = {});

}  // namespace eindb
