#pragma once

#include "plan/physical_plan.hpp"

namespace eindb {

/// Bytes of the grid's largest tile.
double tile_bytes(const TileGrid& grid, DType type);

/// Bytes that a task of a node holds at most, beside its kernel's workspace: the tiles that a kernel call reads and the
/// one it makes, in the type that it adds up in, too; of a layout a tile that it copies from at a time, and what it
/// makes. Tiles of attached tensors count as well, since those with gaps are copied; so does the stored tile that a
/// tile of a selection is taken from. A group-by's task is its join's. As a double, which counts more than anyone has.
double task_bytes(const PhysicalPlan& plan, NodeId node);

}  // namespace eindb
