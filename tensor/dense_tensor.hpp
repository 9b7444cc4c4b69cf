#pragma once

#include <vector>

#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A whole tensor in memory, as one tile. Used by tests, references and small results.
using DenseTensor = Tile;

/// Cuts a dense tensor into the tiles of a grid, in order of tile_id. The grid's shape must be the tensor's.
std::vector<TilePtr> split(const DenseTensor& tensor, const TileGrid& grid);
/// The inverse of split; a null tile counts as zeros.
DenseTensor assemble(const std::vector<TilePtr>& tiles, const TileGrid& grid, DType type);

/// Copies the block of `extents` from `source` to `target`; strides are in elements, of `size` bytes each.
/// Both pointers are at the block's first element. Regions must not overlap.
void copy_block(std::byte* target, const std::vector<std::int64_t>& target_strides, const std::byte* source,
                const std::vector<std::int64_t>& source_strides, const std::vector<std::int64_t>& extents,
                std::size_t size);

}  // namespace eindb
