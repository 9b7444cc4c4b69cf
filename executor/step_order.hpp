#pragma once

#include <vector>

#include "plan/physical_plan.hpp"

namespace eindb {

/// The order in which ranks run the steps of a plan, the same at all of them, as exchanges must be. Computations are in
/// the order of the plan. A move (a redistribution or a reduction) may come earlier, so that it can travel while a
/// computation runs that it has nothing to do with.
///
/// Example: S = A B and T = S C, with moves of A, B, S and C. In the plan C is moved after S, that is, when nothing is
/// computed. Here it is moved before S, so that it travels while S is computed:
///
///     moves         A B  C        S
///     computations       S = A B     T = S C
struct StepOrder {
  std::vector<StepId> steps;
  std::vector<StepId> overlapped;  ///< the moves that can travel while a computation runs, in this order
};

/// The plan must be valid. Moves come so much earlier as the computations are predicted to last that they travel
/// beside, and no more, since what has come takes memory.
StepOrder step_order(const PhysicalPlan& plan);

/// The elements of a step's result that a rank with a part of it has, about.
double elements_at_rank(const PhysicalPlan& plan, StepId step);

}  // namespace eindb
