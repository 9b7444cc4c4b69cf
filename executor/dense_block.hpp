#pragma once

#include "executor/execution_context.hpp"
#include "executor/relation.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {

/// Makes the block that collectives move: the tiles of a window of `source` as one tile, row-major, zeros written out.
/// The caller counts its bytes. Tiles are copied by the scheduler's threads, each counted in the budget meanwhile.
/// With `gives_up` each tile is released once it is copied.
Tile dense_block(Relation& source, const TileWindow& window, bool gives_up, const ExecutionContext& context);

/// Cuts such a block into the tiles of a window of `result`, which are counted. Tiles that are all zero stay absent.
void cut_block(const Tile& block, const TileWindow& window, Relation& result, const ExecutionContext& context);

}  // namespace eindb
