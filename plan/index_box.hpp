#pragma once

#include <cstdint>
#include <vector>

#include "tensor/shape.hpp"
#include "tensor/tile_holders.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {

/// A range of indices along each dimension: a block of a tensor, or the intersection of blocks.
using IndexBox = std::vector<PartRange>;

/// Elements of the box; 1 for rank 0.
std::int64_t element_count(const IndexBox& box);
/// The intersection of two boxes of one tensor; ranges that do not intersect are empty.
IndexBox common_box(const IndexBox& a, const IndexBox& b);
/// Whether the elements of `part` are contiguous in `box`, in the same order, with both row-major.
bool is_contiguous(const IndexBox& box, const IndexBox& part);
/// The offset of the first element of `part` in `box`, in elements.
std::int64_t offset_in(const IndexBox& box, const IndexBox& part);
/// The extents of a box.
Shape shape_of(const IndexBox& box);
/// The block of `rank`, which must hold one.
IndexBox block_box(const Shape& shape, const BlockPlacement& placement, std::size_t rank);
/// The cells of a tile, and of a window with tiles.
IndexBox tile_box(const TileGrid& grid, const TileKey& key);
IndexBox window_box(const TileGrid& grid, const TileWindow& tiles);
/// Elements of the largest block that any rank holds.
std::int64_t largest_block(const Shape& shape, const BlockPlacement& placement);

}  // namespace eindb
