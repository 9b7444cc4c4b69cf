#pragma once

#include "optimizer/redistribution/weak_path.hpp"
#include "plan/redistribution_plan.hpp"

namespace eindb {

/// Whether collectives can lead from one placement to the other: the same ranks hold blocks in both, and in each
/// placement every block has the same number of holders.
bool is_collective(const BlockPlacement& source, const BlockPlacement& target);

/// Lowers a path of weak types between two placements to a concrete plan (array redistribution, sections 6.1 and 7.3).
/// It chooses the ranks of each group and the block of each rank. Where there is a choice, a rank gets the block that
/// the target wants of it; if blocks are in wrong places nevertheless, one allpermute is added before the final
/// allgathers.
///
/// At each point of the path a rank wants any block out of a box of blocks: after the last step the target's block,
/// before an allgather any of the blocks that it joins, before a cut the block that is cut. Each cut gives new parts in
/// equal numbers to the ranks with the same block, and each alltoall to the ranks of one region; as many ranks as
/// possible get a wanted part (assign_evenly).
/// Example: [16] -> [4{x}16] on {x:4, y:4} is a dynslice in which rank (i_x, i_y) takes part i_x, and no permutation.
///
/// Requires is_collective(source, target), and a path from source.parts to target.parts whose steps are each one
/// operation_between().
RedistributionPlan lower(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target,
                         const WeakPath& path, const CollectiveCosts& costs);

/// A lower bound of that plan's cost: a permutation counts only if ranks start with blocks that they do not want.
double least_cost(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target, const WeakPath& path,
                  const CollectiveCosts& costs);

}  // namespace eindb
