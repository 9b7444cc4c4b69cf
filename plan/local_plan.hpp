#pragma once

#include "plan/distributed_plan.hpp"

namespace eindb {

/// What one rank does in a ComputeStep, as a plan of its own: scans of the inputs, the join with its group-by, the
/// sink; over the window of the rank's block. Scan n is of a tensor named by the number of the step that is input n
/// ("3"); the rank has the tiles of it that the window reads. Partial results have no epilogue.
///
/// Of a valid plan, and of a rank that computes.
PhysicalPlan local_plan(const DistributedPlan& plan, StepId compute, Rank rank);

}  // namespace eindb
