#pragma once

#include "plan/fragment.hpp"

namespace eindb {

/// Bytes of the grid's largest tile.
double tile_bytes(const TileGrid& grid, DType type);
/// Bytes of a node's largest tile, if cells lie evenly in those of cells.
double tile_bytes(const FragmentNode& node);

/// Bytes that a task of a node holds at most, without its kernel's workspace. For a kernel these are the tiles that a
/// call reads and the one that it makes, plus that one in the type in which it accumulates; for a layout, one source
/// tile and one result tile. Tiles of attached tensors count too, since those with gaps are copied, and so does the
/// stored tile from which a tile of a selection is taken. A group-by's task is its join's. A double, as the number may
/// exceed any real memory.
double task_bytes(const Fragment& plan, NodeId node);

}  // namespace eindb
