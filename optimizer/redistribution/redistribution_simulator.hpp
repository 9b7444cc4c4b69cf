#pragma once

#include <cstdint>

#include "plan/redistribution_plan.hpp"

namespace eindb {

/// The outcome of a simulated plan.
struct SimulatedRedistribution {
  std::int64_t peak = 0;           ///< elements of the largest block held by a rank
  std::int64_t received = 0;       ///< elements received by all ranks together
  std::int64_t most_received = 0;  ///< sum over the steps of the elements that the busiest rank receives
};

/// Runs a plan on virtual ranks in this process, on tiles in memory, step by step like real ranks: each has only its
/// block's cells, sends pieces of it, and assembles received pieces. Throws Error{Internal} if a rank needs a cell that
/// no member of its group sent, or if after a step a rank does not hold, cell by cell, exactly the block that the plan
/// states.
///
/// A cell stands for all elements between neighbouring cuts of all grids of the plan, so hundreds of megabytes on a
/// thousand ranks take little memory. If every element is a cell of its own, the check covers every element.
SimulatedRedistribution simulate(const RedistributionPlan& plan);

}  // namespace eindb
