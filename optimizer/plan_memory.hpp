#pragma once

#include "plan/physical_plan.hpp"

namespace eindb {

/// The most bytes of tiles that executing the plan holds at once, if no tile is absent: every node's result from when
/// it is made (a scan's: first read) until its last reader is done; in a loop over slices a slice of it. Tensors in a
/// program's memory count nothing. What partial results of several threads take comes on top, as far as there is room.
double peak_bytes(const PhysicalPlan& plan);

/// The most bytes that operators hold at once while they work, apart from tiles that can be put aside: of a join, on
/// every thread the tiles of one kernel call, those it reads and the one it makes; of a repartition one tile that is
/// cut and one that is made. Less than this and a plan cannot run, whatever is put aside.
double working_bytes(const PhysicalPlan& plan, int threads);

/// What goes to a scratch file, or is read from the database again, if no more than `limit` bytes are held. An
/// estimate.
struct ScratchTraffic {
  double written = 0;
  double read = 0;
};
/// Tiles that are made and do not fit are written once and read for each of their readers. A join whose operands do not
/// fit reads the larger one again for every row of groups. What waits for a later reader makes room for the operator at
/// work, the longest wait first, and comes back for its reader.
ScratchTraffic scratch_traffic(const PhysicalPlan& plan, double limit);

}  // namespace eindb
