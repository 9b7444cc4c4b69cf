#pragma once

#include <functional>

#include "plan/distributed_plan.hpp"

namespace eindb {

/// The most bytes of tiles that executing the plan holds at once, if no tile is absent: every node's result from when
/// it is made (a scan's: first read) until its last reader is done; in a loop over slices a slice of it. Tensors in a
/// program's memory count nothing. What partial results of several threads take comes on top, as far as there is room.
double peak_bytes(const PhysicalPlan& plan);

/// The most bytes that operators hold at once while they work, apart from tiles that can be put aside: of a join, on
/// every thread the tiles of one kernel call, those it reads and the one it makes; of a repartition one tile that is
/// cut and one that is made. Less than this and a plan cannot run, whatever is put aside.
double working_bytes(const PhysicalPlan& plan, int threads);

/// The same of what one rank does in the steps of a plan: a step's relation, as far as it lies at the rank, from when
/// it is made until its last reader is done. Tiles that lie where holder lists say count nothing: they are read when
/// needed.
double peak_bytes(const DistributedPlan& plan, Rank rank);
double working_bytes(const DistributedPlan& plan, Rank rank, int threads);

/// The least memory that a plan can be executed in, as whoever executes it says.
using LeastMemory = std::function<double(const PhysicalPlan& plan)>;
/// The same, or working_bytes(plan, 1) where nobody says or `limit` is ample: asking takes a while.
double least_bytes(const PhysicalPlan& plan, const LeastMemory& known, double limit);

/// What goes to a scratch file, or is read from the database again, if no more than `limit` bytes are held. An
/// estimate.
struct ScratchTraffic {
  double written = 0;
  double read = 0;
};
/// Tiles that are made and do not fit are written once and read for each of their readers. A join whose operands do not
/// fit reads one again for every part of a label that it does not have, if what is read in between does not fit either;
/// likewise a repartition whose pieces are cut out of the same tiles. What waits for a later reader makes room for the
/// operator at work, the longest wait first, and comes back for its reader. A larger limit gives no more.
ScratchTraffic scratch_traffic(const PhysicalPlan& plan, double limit);

/// What loops over slices read of stored tensors again, beyond the first time: each slice reads all of the tiles that
/// it overlaps, and where the tensor does not fit the limit they are gone when the next one comes. None without loops.
double bytes_read_by_slices(const PhysicalPlan& plan, double limit);

/// How many times as long operators work, at most, because not all threads have room at the same time: what they work
/// on keeps to half of the limit where the rest is for tiles that wait. Between 1 and `threads`.
double slowdown_for_room(const PhysicalPlan& plan, int threads, double limit);

}  // namespace eindb
