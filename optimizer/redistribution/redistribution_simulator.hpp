#pragma once

#include <cstdint>

#include "plan/redistribution_plan.hpp"

namespace eindb {

/// The outcome of a simulated plan.
struct SimulatedRedistribution {
  std::int64_t peak = 0;           ///< elements of the largest block that a rank held
  std::int64_t received = 0;       ///< elements that ranks received, all together
  std::int64_t most_received = 0;  ///< the sum over the steps of what the busiest rank received
};

/// Runs a plan on as many virtual ranks as it has, in this process, on tiles in memory, step by step as ranks would:
/// each has its block's cells only, sends pieces of it, and puts together what comes. Throws Error{Internal} as soon
/// as a rank would need a cell that none of its group sent, and after each step if a rank holds anything but the
/// block that the plan says, cell by cell.
///
/// A cell stands for all elements between neighbouring cuts of any grid of the plan, so that hundreds of megabytes on a
/// thousand ranks take little memory; where every element is a cell of its own, nothing is left out.
SimulatedRedistribution simulate(const RedistributionPlan& plan);

}  // namespace eindb
