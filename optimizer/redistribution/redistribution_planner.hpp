#pragma once

#include <optional>

#include "optimizer/redistribution/collective_costs.hpp"
#include "plan/redistribution_plan.hpp"

namespace eindb {

struct RedistributionOptions {
  CollectiveCosts costs;  ///< the paper's, or measured ones
  /// Elements that a rank may hold if that exceeds the largest block of source and target. More memory allows
  /// "allgather everything, then dynslice", which is quicker for small tensors on slow networks.
  std::int64_t memory = 0;
  /// Whether exchange_directly() is a candidate. It needs measured costs, since by elements alone it never costs more.
  bool allow_direct = false;
};

/// The cheapest sequence of collectives found between two placements of a tensor. Candidates are the shortest paths
/// over weak types, each lowered with at most one permutation, of equally short paths the one with the cheapest
/// permutation; gather_then_slice() if memory allows it; and exchange_directly() if allowed. No rank ever holds a block
/// larger than the largest of source and target, or than options.memory.
///
/// If no collectives lead there (some ranks hold a block in one placement only, blocks have unequal numbers of holders,
/// or uneven extents leave no path within memory), the plan is exchange_directly().
RedistributionPlan plan_redistribution(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target,
                                       const RedistributionOptions& options = {});
/// As above. Throws Error{Shape} if the tensors differ, Error{Value} if the meshes do.
RedistributionPlan plan_redistribution(const DistributedType& source, const DistributedType& target,
                                       const RedistributionOptions& options = {});

/// The fallback: every rank gathers the whole tensor, whatever memory that takes, and keeps its block. nullopt if no
/// collectives lead there.
std::optional<RedistributionPlan> gather_then_slice(const Shape& shape, const BlockPlacement& source,
                                                    const BlockPlacement& target, const CollectiveCosts& costs = {});

/// A single exchange in which every rank receives exactly the elements that it lacks. Each piece comes from a rank that
/// has it; of several, from the one that has sent the least so far. If all ranks reach each other equally well, no plan
/// moves fewer bytes; a rank sends up to as many messages as there are ranks. The cost is that of the busiest rank's
/// receiving and packing. Every source block that is wanted must have a holder.
RedistributionPlan exchange_directly(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target,
                                     const CollectiveCosts& costs = {});

}  // namespace eindb
