#pragma once

#include "optimizer/redistribution/weak_path.hpp"
#include "plan/redistribution_plan.hpp"

namespace eindb {

/// Whether collectives can lead from one placement to the other: the same ranks hold blocks in both, and in each as
/// many ranks hold one block as any other.
bool is_collective(const BlockPlacement& source, const BlockPlacement& target);

/// Makes a path of weak types from the one placement to the other concrete (array redistribution, sections 6.1 and
/// 7.3): says which ranks form groups and which block each rank gets, so that it is the one that the target wants of
/// it wherever there is a choice, and if blocks lie in wrong places nevertheless, adds one allpermute before the final
/// allgathers.
///
/// A rank wants, at each point of the path, any block of a box of blocks: after the last step the one of the target;
/// before an allgather any of those that it puts together; before a cut the one that is cut. Each cut gives ranks with
/// the same block, and each alltoall the ranks of one region, new parts in equal numbers, as many as possible as
/// wanted (assign_evenly).
/// Example: [16] -> [4{x}16] on {x:4, y:4} is a dynslice in which rank (i_x, i_y) takes part i_x, and no permutation.
///
/// Requires is_collective(source, target) and a path from source.parts to target.parts, each step one of
/// operation_between().
RedistributionPlan lower(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target,
                         const WeakPath& path, const CollectiveCosts& costs);

/// What that plan costs at least: a permutation counts where ranks do not begin with blocks that they want.
double least_cost(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target, const WeakPath& path,
                  const CollectiveCosts& costs);

}  // namespace eindb
