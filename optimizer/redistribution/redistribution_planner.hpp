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
};

/// The cheapest sequence of collectives found between two placements of a tensor. Candidates are the shortest paths
/// over weak types, each lowered with at most one permutation, of equally short paths the one with the cheapest
/// permutation, and gather_then_slice() if memory allows it. No rank ever holds a block larger than the largest of
/// source and target, or than options.memory.
///
/// nullopt if no collectives lead there: some ranks hold a block in one placement only, blocks have unequal numbers of
/// holders, or uneven extents leave no path within memory.
std::optional<RedistributionPlan> plan_redistribution(const Shape& shape, const BlockPlacement& source,
                                                      const BlockPlacement& target,
                                                      const RedistributionOptions& options = {});
/// As above. Throws Error{Shape} if the tensors differ, Error{Value} if the meshes do.
std::optional<RedistributionPlan> plan_redistribution(const DistributedType& source, const DistributedType& target,
                                                      const RedistributionOptions& options = {});

/// The fallback: every rank gathers the whole tensor, whatever memory that takes, and keeps its block. nullopt if no
/// collectives lead there.
std::optional<RedistributionPlan> gather_then_slice(const Shape& shape, const BlockPlacement& source,
                                                    const BlockPlacement& target, const CollectiveCosts& costs = {});

}  // namespace eindb
