#include "plan/index_box.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace eindb {

std::int64_t element_count(const IndexBox& box) {
  std::int64_t count = 1;
  for (const auto& range : box) count *= range.size;
  return count;
}

IndexBox common_box(const IndexBox& a, const IndexBox& b) {
  IndexBox out;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const auto begin = std::max(a[d].begin, b[d].begin);
    out.push_back({begin, std::max<std::int64_t>(0, std::min(a[d].end(), b[d].end()) - begin)});
  }
  return out;
}

bool is_contiguous(const IndexBox& box, const IndexBox& part) {
  std::size_t d = 0;
  while (d < box.size() && part[d].size == 1) ++d;
  for (++d; d < box.size(); ++d)
    if (part[d].size != box[d].size) return false;
  return true;
}

std::int64_t offset_in(const IndexBox& box, const IndexBox& part) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < box.size(); ++d) offset = offset * box[d].size + part[d].begin - box[d].begin;
  return offset;
}

Shape shape_of(const IndexBox& box) {
  std::vector<std::int64_t> extents;
  for (const auto& range : box) extents.push_back(range.size);
  return Shape(std::move(extents));
}

IndexBox block_box(const Shape& shape, const BlockPlacement& placement, std::size_t rank) {
  CHECK(placement.at[rank].has_value(), "the rank holds a block");
  const auto& key = *placement.at[rank];
  IndexBox box;
  for (std::size_t d = 0; d < shape.rank(); ++d) box.push_back(part_range(shape[d], placement.parts[d], key[d]));
  return box;
}

IndexBox tile_box(const TileGrid& grid, const TileKey& key) {
  IndexBox box;
  for (std::size_t d = 0; d < grid.rank(); ++d) box.push_back(grid.range(d, key[d]));
  return box;
}

IndexBox window_box(const TileGrid& grid, const TileWindow& tiles) {
  IndexBox box;
  for (std::size_t d = 0; d < grid.rank(); ++d) {
    const auto first = grid.range(d, tiles.begin[d]);
    const auto last = grid.range(d, tiles.begin[d] + tiles.size[d] - 1);
    const auto begin = std::min(first.begin, last.begin);
    box.push_back({begin, std::max(first.end(), last.end()) - begin});
  }
  return box;
}

std::int64_t largest_block(const Shape& shape, const BlockPlacement& placement) {
  std::int64_t most = 0;
  for (std::size_t rank = 0; rank < placement.at.size(); ++rank)
    if (placement.at[rank]) most = std::max(most, element_count(block_box(shape, placement, rank)));
  return most;
}

}  // namespace eindb
