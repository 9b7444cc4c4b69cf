#pragma once

#include <functional>

#include "plan/physical_plan.hpp"

namespace eindb {

/// The most bytes of tiles that executing the plan holds at once, if no tile is absent. A node's result is held from
/// when it is made (a scan's: from the first read) until its last reader is done; in a loop over slices, only one slice
/// of it. Attached tensors count nothing. Partial results of several threads come on top, as far as there is room.
double peak_bytes(const Fragment& plan);

/// The most bytes that operators hold at once while they work, without tiles that can go to the scratch file. For a
/// join these are, per thread, the tiles that one kernel call reads and the one that it makes; for a repartition, one
/// source tile and one result tile. A plan cannot run in less memory, whatever is spilled.
double working_bytes(const Fragment& plan, int threads);

/// The same for one rank of a plan in steps: the part of a step's relation that lies at the rank counts from the step
/// until its last reader, and the dense blocks and buffers of a sequence of collectives while it runs. Tiles placed by
/// holder lists count nothing, since they are read when they are needed.
double peak_bytes(const PhysicalPlan& plan, Rank rank);
double working_bytes(const PhysicalPlan& plan, Rank rank, int threads);

/// The least memory in bytes that a plan can run in, supplied by the executor.
using LeastMemory = std::function<double(const Fragment& plan)>;
/// The same by `known`. Falls back to working_bytes(plan, 1) if `known` is empty, or if `limit` is ample, since the
/// exact answer takes a while.
double least_bytes(const Fragment& plan, const LeastMemory& known, double limit);

/// An estimate of the bytes that go to a scratch file or are read from the database again if at most `limit` bytes are
/// held.
struct ScratchTraffic {
  double written = 0;
  double read = 0;
};
/// Tiles that are made and do not fit are written once and read once per reader. If the operands of a join do not fit,
/// it reads an operand again for every part of a label that the operand does not have, unless the tiles read in between
/// fit; likewise for a repartition whose pieces are cut out of the same tiles. Results that wait for a later reader
/// make room for the running operator, the longest wait first, and come back for their reader. A larger limit never
/// gives more.
ScratchTraffic scratch_traffic(const Fragment& plan, double limit);

/// The bytes that loops over slices read of stored tensors beyond the first time. Each slice reads all tiles that it
/// overlaps; if the tensor does not fit the limit, they are gone when the next slice needs them. 0 without loops.
double bytes_read_by_slices(const Fragment& plan, double limit);

/// The factor by which operators slow down at most because not all threads find room at the same time: their working
/// tiles keep to half of the limit if the rest holds waiting tiles. Between 1 and `threads`.
double slowdown_for_room(const Fragment& plan, int threads, double limit);

}  // namespace eindb
