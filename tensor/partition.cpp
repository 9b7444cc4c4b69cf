#include "tensor/partition.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"

namespace eindb {

PartRange part_range(std::int64_t extent, std::int64_t parts, std::int64_t q) {
  const auto begin = scaled_floor(q, extent, parts);
  return {begin, scaled_floor(q + 1, extent, parts) - begin};
}

std::int64_t part_of(std::int64_t extent, std::int64_t parts, std::int64_t i) {
  auto q = scaled_floor(i, parts, extent);
  while (part_range(extent, parts, q).end() <= i) ++q;
  return q;
}

std::int64_t largest_part(std::int64_t extent, std::int64_t parts) { return ceil_divide(extent, parts); }

TileGrid::TileGrid(Shape shape, Partition partition) : shape_(std::move(shape)), partition_(std::move(partition)) {
  if (partition_.size() != shape_.rank()) {
    throw Error(ErrorKind::Shape, "a partition of " + std::to_string(partition_.size()) +
                                      " entries for a tensor of rank " + std::to_string(shape_.rank()));
  }
  for (std::size_t d = 0; d < partition_.size(); ++d) {
    if (partition_[d] < 1 || partition_[d] > std::max<std::int64_t>(1, shape_[d])) {
      throw Error(ErrorKind::Shape,
                  "dimension " + std::to_string(d) + " of extent " + std::to_string(shape_[d]) +
                      " cannot be cut into " + std::to_string(partition_[d]) + " parts",
                  std::nullopt, "use 1 to " + std::to_string(std::max<std::int64_t>(1, shape_[d])) + " parts");
    }
  }
  tile_count_ = checked_product(partition_);
}

TileKey TileGrid::key_of(std::int64_t tile_id) const {
  DCHECK(tile_id >= 0 && tile_id < tile_count_, "a tile_id lies in its grid");
  TileKey key(rank());
  for (std::size_t d = rank(); d-- > 0;) {
    key[d] = tile_id % partition_[d];
    tile_id /= partition_[d];
  }
  return key;
}

std::int64_t TileGrid::id_of(const TileKey& key) const {
  std::int64_t id = 0;
  for (std::size_t d = 0; d < rank(); ++d) id = id * partition_[d] + key[d];
  return id;
}

PartRange TileGrid::range(std::size_t dimension, std::int64_t part) const {
  return part_range(shape_[dimension], partition_[dimension], part);
}

std::vector<std::int64_t> TileGrid::tile_begin(const TileKey& key) const {
  std::vector<std::int64_t> begin(rank());
  for (std::size_t d = 0; d < rank(); ++d) begin[d] = range(d, key[d]).begin;
  return begin;
}

Shape TileGrid::tile_shape(const TileKey& key) const {
  std::vector<std::int64_t> extents(rank());
  for (std::size_t d = 0; d < rank(); ++d) extents[d] = range(d, key[d]).size;
  return Shape(std::move(extents));
}

Partition default_partition(const Shape& shape, DType type, std::int64_t tile_bytes) {
  Partition parts(shape.rank(), 1);
  const auto budget = std::max<std::int64_t>(1, tile_bytes / static_cast<std::int64_t>(size_of(type)));
  std::vector<std::int64_t> tile = shape.extents();
  while (!tile.empty() && checked_product(tile) > budget) {
    const auto largest = static_cast<std::size_t>(std::max_element(tile.begin(), tile.end()) - tile.begin());
    if (parts[largest] * 2 > shape[largest]) break;  // the largest dimension cannot be halved, so no other can
    parts[largest] *= 2;
    tile[largest] = largest_part(shape[largest], parts[largest]);
  }
  return parts;
}

}  // namespace eindb
