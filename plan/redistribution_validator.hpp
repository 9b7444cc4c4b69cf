#pragma once

#include "plan/redistribution_plan.hpp"

namespace eindb {

/// Checks that every step of a plan leads from the blocks before it to the blocks after it, so that a rank that runs it
/// accesses only its blocks. A failure is an Error{Internal} that names the step. Cost: about the sum over the steps of
/// the square of the group sizes.
///
/// All placements are of the same ranks, in grids that fit the shape, with keys that lie in them. Members of a group
/// stand in one only, are as many in each, and hold between them exactly what each of them (allgather), or all of
/// them (alltoall), have afterwards; blocks after a dynslice lie in those before; a permutation is one, of whole
/// blocks.
void validate(const RedistributionPlan& plan);

}  // namespace eindb
