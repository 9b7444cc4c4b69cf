#pragma once

#include "plan/redistribution_plan.hpp"

namespace eindb {

/// Checks that every step of a plan leads from the blocks before it to the blocks after it, so that a rank that runs it
/// accesses only its blocks. A failure is an Error{Internal} that names the step. Cost: about the sum over the steps of
/// the square of the group sizes.
///
/// All placements are over the same ranks, in grids that fit the shape, with valid keys. Groups are disjoint and of
/// equal size. Their members hold together exactly the block that each of them (allgather), or all of them together
/// (alltoall), hold afterwards. Blocks after a dynslice lie within those before. A permutation moves whole blocks and
/// is bijective. The senders of a direct exchange hold everything that is wanted, and no part is sent twice.
void validate(const RedistributionPlan& plan);

}  // namespace eindb
