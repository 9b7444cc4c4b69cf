#pragma once

#include <cstdint>
#include <functional>

#include "tensor/cell_block.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// Whether every tile of `fine` lies in one tile of `coarse`, which is over the same shape.
bool nests_in(const TileGrid& fine, const TileGrid& coarse);

/// Cuts the cells of tile `tile_id` of `coarse` into tiles of `fine`, which nests in it. `visit` gets the tiles that
/// have cells, in order of their numbers in `fine`; their shapes may_have cells (CellBlock). The time is in proportion
/// to the cells, whatever the number of tiles.
void cut_cells(const CellBlock& cells, const TileGrid& coarse, std::int64_t tile_id, const TileGrid& fine,
               const std::function<void(std::int64_t tile_id, CellBlock cells)>& visit);

/// The most bytes that cut_cells() takes for that many cells, together with one of the blocks that it makes.
std::int64_t bytes_for_cut(DType type, std::size_t rank, std::int64_t cells);

}  // namespace eindb
