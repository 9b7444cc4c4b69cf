#pragma once

#include "plan/physical_plan.hpp"

namespace eindb {

/// The most bytes of tiles that executing the plan holds at once, if no tile is absent: every node's result from when
/// it is made (a scan's: first read) until its last reader is done; in a loop over slices a slice of it. Tensors in a
/// program's memory count nothing. What partial results of several threads take comes on top, as far as there is room.
double peak_bytes(const PhysicalPlan& plan);

}  // namespace eindb
