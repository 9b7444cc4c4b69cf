#include "tensor/partition.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/divisors.hpp"
#include "common/error.hpp"
#include "tensor/tile_size.hpp"

namespace eindb {

PartRange part_range(std::int64_t extent, std::int64_t parts, std::int64_t q) {
  if (parts == 1 && q == 0) return {0, extent};
  const auto begin = scaled_floor(q, extent, parts);
  return {begin, scaled_floor(q + 1, extent, parts) - begin};
}

std::int64_t part_of(std::int64_t extent, std::int64_t parts, std::int64_t i) {
  auto q = scaled_floor(i, parts, extent);
  while (part_range(extent, parts, q).end() <= i) ++q;
  return q;
}

std::int64_t largest_part(std::int64_t extent, std::int64_t parts) { return ceil_divide(extent, parts); }

TileGrid::Cuts TileGrid::checked(Shape shape, Partition partition) {
  if (partition.size() != shape.rank()) {
    throw Error(ErrorKind::Shape, "a partition of " + std::to_string(partition.size()) +
                                      " entries for a tensor of rank " + std::to_string(shape.rank()));
  }
  for (std::size_t d = 0; d < partition.size(); ++d) {
    if (partition[d] < 1 || partition[d] > std::max<std::int64_t>(1, shape[d])) {
      throw Error(ErrorKind::Shape,
                  "dimension " + std::to_string(d) + " of extent " + std::to_string(shape[d]) + " cannot be cut into " +
                      std::to_string(partition[d]) + " parts",
                  std::nullopt, "use 1 to " + std::to_string(std::max<std::int64_t>(1, shape[d])) + " parts");
    }
  }
  const auto count = checked_product(partition);
  return {.shape = std::move(shape), .partition = std::move(partition), .edges = {}, .tile_count = count};
}

const TileGrid::Cuts& TileGrid::none() {
  static const Cuts kNone{};
  return kNone;
}

TileGrid::TileGrid(Shape shape, Partition partition)
    : cuts_(std::make_shared<const Cuts>(checked(std::move(shape), std::move(partition)))) {}

TileGrid::TileGrid(Shape shape, Partition partition, std::vector<std::int64_t> edges) {
  auto cuts = checked(std::move(shape), std::move(partition));
  CHECK(edges.size() == cuts.partition.size(), "each dimension has an edge, or 0");
  for (std::size_t d = 0; d < edges.size(); ++d) {
    if (edges[d] == 0) continue;
    const auto extent = cuts.shape[d];
    const auto parts = cuts.partition[d];
    if (edges[d] < 0 || parts != std::max<std::int64_t>(1, ceil_divide(extent, edges[d]))) {
      throw Error(ErrorKind::Shape, "dimension " + std::to_string(d) + " of extent " + std::to_string(extent) +
                                        " has " + std::to_string(parts) + " parts of " + std::to_string(edges[d]) +
                                        " indices");
    }
    if (checked_multiply(parts, edges[d]) == extent) edges[d] = 0;  // these are even cuts
  }
  if (std::any_of(edges.begin(), edges.end(), [](auto edge) { return edge != 0; })) cuts.edges = std::move(edges);
  cuts_ = std::make_shared<const Cuts>(std::move(cuts));
}

bool TileGrid::cuts_evenly() const {
  for (std::size_t d = 0; d < rank(); ++d)
    if (edge(d) != 0 && partition()[d] > 1) return false;
  return true;
}

TileKey TileGrid::key_of(std::int64_t tile_id) const {
  DCHECK(tile_id >= 0 && tile_id < tile_count(), "a tile_id lies in its grid");
  TileKey key(rank());
  for (std::size_t d = rank(); d-- > 0;) {
    key[d] = tile_id % partition()[d];
    tile_id /= partition()[d];
  }
  return key;
}

std::int64_t TileGrid::id_of(const TileKey& key) const {
  std::int64_t id = 0;
  for (std::size_t d = 0; d < rank(); ++d) id = id * partition()[d] + key[d];
  return id;
}

PartRange TileGrid::range(std::size_t dimension, std::int64_t part) const {
  const auto size = edge(dimension);
  if (size == 0) return part_range(shape()[dimension], partition()[dimension], part);
  const auto begin = part * size;
  return {begin, std::min(size, shape()[dimension] - begin)};
}

std::int64_t TileGrid::part_at(std::size_t dimension, std::int64_t index) const {
  DCHECK(index >= 0 && index < shape()[dimension], "an index lies in its dimension");
  const auto size = edge(dimension);
  return size == 0 ? part_of(shape()[dimension], partition()[dimension], index) : index / size;
}

std::int64_t TileGrid::largest(std::size_t dimension) const {
  const auto size = edge(dimension);
  return size == 0 ? largest_part(shape()[dimension], partition()[dimension]) : std::min(size, shape()[dimension]);
}

std::vector<std::int64_t> TileGrid::tile_begin(const TileKey& key) const {
  std::vector<std::int64_t> begin(rank());
  for (std::size_t d = 0; d < rank(); ++d) begin[d] = range(d, key[d]).begin;
  return begin;
}

Shape TileGrid::tile_shape(std::span<const std::int64_t> key) const {
  if (tile_count() == 1) return shape();
  std::vector<std::int64_t> extents(rank());
  for (std::size_t d = 0; d < rank(); ++d) extents[d] = range(d, key[d]).size;
  return Shape(std::move(extents));
}

bool TileGrid::cuts_into_runs() const {
  bool runs = true;  // whether the dimensions so far have one index in a tile
  for (std::size_t d = 0; d < rank(); ++d) {
    if (!runs && partition()[d] > 1) return false;
    runs = runs && largest(d) <= 1;
  }
  return true;
}

std::int64_t TileGrid::first_element(std::span<const std::int64_t> key) const {
  std::int64_t first = 0;
  for (std::size_t d = 0; d < rank(); ++d) first = first * shape()[d] + range(d, key[d]).begin;
  return first;
}

Shape TileGrid::room_shape(const TileKey& key) const {
  std::vector<std::int64_t> extents(rank());
  for (std::size_t d = 0; d < rank(); ++d) extents[d] = edge(d) != 0 ? edge(d) : range(d, key[d]).size;
  return Shape(std::move(extents));
}

Partition default_partition(const Shape& shape, StoredType type, std::int64_t tile_bytes, std::int64_t workers) {
  Partition parts(shape.rank(), 1);
  const auto budget = std::max(1.0, static_cast<double>(tile_bytes) / counted_tile_bytes(type, 1));
  const auto block = has_scales(type.encoding) ? unit_of(type).cells : 1;
  std::vector<std::int64_t> tile = shape.extents();
  const auto may_be_cut = [&](std::size_t d, std::int64_t factor) {
    const auto more = parts[d] * factor;
    if (more > shape[d]) return false;
    return d + 1 < shape.rank() || block == 1 || shape[d] % (more * block) == 0;
  };
  const auto cut_largest = [&](std::int64_t factor) {
    if (tile.empty() || static_cast<double>(checked_product(tile)) <= budget) return false;
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
