#pragma once

#include "plan/distributed_plan.hpp"

namespace eindb {

/// The computation of one rank in a ComputeStep as a plan: scans of the inputs, the join with its group-by, and the
/// sink, over the window of the rank's block. Scan n reads a tensor named by the number of the step that produces input
/// n ("3"); the rank has its tiles that the window reads. Partial results have no epilogue.
///
/// The plan must be valid, and the rank must compute.
PhysicalPlan local_plan(const DistributedPlan& plan, StepId compute, Rank rank);

}  // namespace eindb
