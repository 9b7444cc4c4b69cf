#include "tensor/partition.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
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

namespace {

std::int64_t floor_divided(std::int64_t a, std::int64_t divisor) {
  const auto quotient = a / divisor;
  return a % divisor < 0 ? quotient - 1 : quotient;
}

// The first of `parts` for which f holds, where it holds for all that follow.
template <class F>
std::int64_t first_part(std::int64_t parts, F&& f) {
  std::int64_t begin = 0;
  for (auto end = parts; begin < end;) {
    const auto middle = begin + (end - begin) / 2;
    if (f(middle)) end = middle;
    else begin = middle + 1;
  }
  return begin;
}

}  // namespace

PartRange Reach::range(std::int64_t indices, std::int64_t parts, std::int64_t q) const {
  const auto part = part_range(extent, parts, q);
  const auto first = step * (step > 0 ? part.begin : part.end() - 1) + least;
  const auto last = step * (step > 0 ? part.end() - 1 : part.begin) + most;
  const auto begin = std::clamp<std::int64_t>(-floor_divided(-first, divisor), 0, indices);
  const auto end = std::clamp<std::int64_t>(floor_divided(last, divisor) + 1, begin, indices);
  return {begin, end - begin};
}

bool Reach::is_of_parts(std::int64_t indices, std::int64_t parts) const {
  constexpr std::int64_t kMostParts = std::int64_t{1} << 20U;
  constexpr std::int64_t kGreatest = std::int64_t{1} << 60U;
  const auto is_small = [](std::int64_t number) { return number >= -kGreatest && number <= kGreatest; };
  std::int64_t farthest = 0;
  if (parts < 2 || parts > std::min(kMostParts, extent) || step == 0 || divisor < 1 || least > most) return false;
  if (!is_small(step) || !is_small(least) || !is_small(most) || !is_small(divisor)) return false;
  if (__builtin_mul_overflow(step, extent, &farthest) || !is_small(farthest)) return false;
  for (std::int64_t part = 0; part < parts; ++part)
    if (range(indices, parts, part).size == 0) return false;
  return true;
}

// Parts begin and end in one order, or in the other one where they go backward.
PartRange Reach::parts_over(std::int64_t indices, std::int64_t parts, const PartRange& wanted) const {
  if (wanted.size <= 0) return {};
  const auto is_behind = [&](std::int64_t part) { return range(indices, parts, part).begin >= wanted.end(); };
  const auto is_before = [&](std::int64_t part) { return range(indices, parts, part).end() <= wanted.begin; };
  const auto first = step > 0 ? first_part(parts, [&](auto part) { return !is_before(part); })
                              : first_part(parts, [&](auto part) { return !is_behind(part); });
  const auto end = step > 0 ? first_part(parts, is_behind) : first_part(parts, is_before);
  return {first, std::max<std::int64_t>(0, end - first)};
}

std::int64_t Reach::largest(std::int64_t indices, std::int64_t parts) const {
  const auto distance = std::abs(step) * (largest_part(extent, parts) - 1) + most - least;
  return std::min(indices, distance / divisor + 1);
}

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

TileGrid TileGrid::overlapping(Shape shape, Partition partition, std::vector<std::optional<Reach>> reaches) {
  CHECK(reaches.size() == partition.size(), "each dimension has a reach, or nullopt");
  auto even = partition;
  for (std::size_t d = 0; d < reaches.size(); ++d)
    if (reaches[d]) even[d] = 1;
  auto cuts = checked(std::move(shape), std::move(even));
  for (std::size_t d = 0; d < reaches.size(); ++d) {
    if (!reaches[d]) continue;
    if (!reaches[d]->is_of_parts(cuts.shape[d], partition[d]))
      throw Error(ErrorKind::Shape, "dimension " + std::to_string(d) + " has no such parts that overlap");
  }
  cuts.partition = std::move(partition);
  cuts.tile_count = checked_product(cuts.partition);
  if (std::any_of(reaches.begin(), reaches.end(), [](const auto& reach) { return reach.has_value(); }))
    cuts.reaches = std::move(reaches);
  TileGrid grid;
  grid.cuts_ = std::make_shared<const Cuts>(std::move(cuts));
  return grid;
}

bool TileGrid::cuts_evenly() const {
  if (overlaps()) return false;
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
  if (overlaps() && reaches()[dimension])
    return reaches()[dimension]->range(shape()[dimension], partition()[dimension], part);
  const auto size = edge(dimension);
  if (size == 0) return part_range(shape()[dimension], partition()[dimension], part);
  const auto begin = part * size;
  return {begin, std::min(size, shape()[dimension] - begin)};
}

PartRange TileGrid::parts_over(std::size_t dimension, const PartRange& range) const {
  if (range.size <= 0) return {};
  if (!overlaps() || !reaches()[dimension]) {
    const auto first = part_at(dimension, range.begin);
    return {first, part_at(dimension, range.end() - 1) - first + 1};
  }
  return reaches()[dimension]->parts_over(shape()[dimension], partition()[dimension], range);
}

std::int64_t TileGrid::part_at(std::size_t dimension, std::int64_t index) const {
  DCHECK(index >= 0 && index < shape()[dimension], "an index lies in its dimension");
  DCHECK(!overlaps() || !reaches()[dimension], "an index lies in one part");
  const auto size = edge(dimension);
  return size == 0 ? part_of(shape()[dimension], partition()[dimension], index) : index / size;
}

std::int64_t TileGrid::largest(std::size_t dimension) const {
  if (overlaps() && reaches()[dimension])
    return reaches()[dimension]->largest(shape()[dimension], partition()[dimension]);
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
  if (overlaps()) return false;
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
