#include "tensor/partition.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/divisors.hpp"
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

TileGrid::TileGrid(Shape shape, Partition partition, std::vector<std::int64_t> edges)
    : TileGrid(std::move(shape), std::move(partition)) {
  CHECK(edges.size() == rank(), "each dimension has an edge, or 0");
  for (std::size_t d = 0; d < edges.size(); ++d) {
    if (edges[d] == 0) continue;
    if (edges[d] < 0 || partition_[d] != std::max<std::int64_t>(1, ceil_divide(shape_[d], edges[d]))) {
      throw Error(ErrorKind::Shape, "dimension " + std::to_string(d) + " of extent " + std::to_string(shape_[d]) +
                                        " has " + std::to_string(partition_[d]) + " parts of " +
                                        std::to_string(edges[d]) + " indices");
    }
    if (checked_multiply(partition_[d], edges[d]) == shape_[d]) edges[d] = 0;  // these are even cuts
  }
  if (std::any_of(edges.begin(), edges.end(), [](auto edge) { return edge != 0; })) edges_ = std::move(edges);
}

bool TileGrid::cuts_evenly() const {
  for (std::size_t d = 0; d < rank(); ++d)
    if (edge(d) != 0 && partition_[d] > 1) return false;
  return true;
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
  const auto size = edge(dimension);
  if (size == 0) return part_range(shape_[dimension], partition_[dimension], part);
  const auto begin = part * size;
  return {begin, std::min(size, shape_[dimension] - begin)};
}

std::int64_t TileGrid::part_at(std::size_t dimension, std::int64_t index) const {
  DCHECK(index >= 0 && index < shape_[dimension], "an index lies in its dimension");
  const auto size = edge(dimension);
  return size == 0 ? part_of(shape_[dimension], partition_[dimension], index) : index / size;
}

std::int64_t TileGrid::largest(std::size_t dimension) const {
  const auto size = edge(dimension);
  return size == 0 ? largest_part(shape_[dimension], partition_[dimension]) : std::min(size, shape_[dimension]);
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

bool TileGrid::cuts_into_runs() const {
  bool runs = true;  // whether the dimensions so far have one index in a tile
  for (std::size_t d = 0; d < rank(); ++d) {
    if (!runs && partition_[d] > 1) return false;
    runs = runs && largest(d) <= 1;
  }
  return true;
}

std::int64_t TileGrid::first_element(std::span<const std::int64_t> key) const {
  std::int64_t first = 0;
  for (std::size_t d = 0; d < rank(); ++d) first = first * shape_[d] + range(d, key[d]).begin;
  return first;
}

Shape TileGrid::room_shape(const TileKey& key) const {
  std::vector<std::int64_t> extents(rank());
  for (std::size_t d = 0; d < rank(); ++d) extents[d] = edge(d) != 0 ? edge(d) : range(d, key[d]).size;
  return Shape(std::move(extents));
}

Partition default_partition(const Shape& shape, StoredType type, std::int64_t tile_bytes, std::int64_t workers) {
  Partition parts(shape.rank(), 1);
  const auto budget = std::max<std::int64_t>(1, tile_bytes / static_cast<std::int64_t>(size_of(type.values)));
  const auto block = has_scales(type.encoding) ? unit_of(type).cells : 1;
  std::vector<std::int64_t> tile = shape.extents();
  const auto may_be_cut = [&](std::size_t d, std::int64_t factor) {
    const auto more = parts[d] * factor;
    if (more > shape[d]) return false;
    return d + 1 < shape.rank() || block == 1 || shape[d] % (more * block) == 0;
  };
  const auto cut_largest = [&](std::int64_t factor) {
    if (tile.empty() || checked_product(tile) <= budget) return false;
    std::optional<std::size_t> largest;
    for (std::size_t d = 0; d < tile.size(); ++d)
      if (may_be_cut(d, factor) && (!largest || tile[d] > tile[*largest])) largest = d;
    if (!largest) return false;
    parts[*largest] *= factor;
    tile[*largest] = largest_part(shape[*largest], parts[*largest]);
    return true;
  };
  const auto factors = prime_factors(workers);
  for (auto factor = factors.rbegin(); factor != factors.rend() && *factor > 2; ++factor) cut_largest(*factor);
  while (cut_largest(2)) continue;
  return parts;
}

}  // namespace eindb
