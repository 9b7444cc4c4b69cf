#pragma once

#include "plan/physical_plan.hpp"

namespace eindb {

/// The computation of one rank in a ComputeStep as a plan: scans of the inputs, the join with its group-by, and the
/// sink, over the window of the rank's block. Scan n reads a tensor named by the number of the step that produces input
/// n ("3"); the rank has its tiles that the window reads. Partial results have no epilogue.
///
/// The plan must be valid, and the rank must compute.
Fragment local_fragment(const PhysicalPlan& plan, StepId compute, Rank rank);

}  // namespace eindb
