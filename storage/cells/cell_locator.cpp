#include "storage/cells/cell_locator.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace eindb {
namespace {

/// The most part boundaries cached per dimension: 512 KiB.
constexpr std::int64_t kMaxTable = 65536;

}  // namespace

CellLocator::CellLocator(TileGrid grid) : grid_(std::move(grid)), dimensions_(grid_.rank()) {
  std::int64_t later = 1;
  for (std::size_t d = grid_.rank(); d-- > 0;) {
    auto& dimension = dimensions_[d];
    dimension.extent = grid_.shape()[d];
    dimension.parts = grid_.partition()[d];
    dimension.later = later;
    dimension.range = grid_.range(d, 0);
    // If an extent is zero there are no cells, and the products need not fit 64 bits.
    if (grid_.shape().element_count() > 0) later *= dimension.extent;
    if (dimension.parts > kMaxTable) continue;
    for (std::int64_t q = 0; q < dimension.parts; ++q) dimension.begins.push_back(grid_.range(d, q).begin);
    dimension.begins.push_back(dimension.extent);
  }
}

std::optional<std::size_t> CellLocator::outside(std::span<const std::int64_t> key) const {
  DCHECK(key.size() == dimensions_.size(), "a key has one index per dimension");
  for (std::size_t d = 0; d < dimensions_.size(); ++d)
    if (key[d] < 0 || key[d] >= dimensions_[d].extent) return d;
  return std::nullopt;
}

void CellLocator::find_part(std::size_t d, std::int64_t index) {
  auto& dimension = dimensions_[d];
  DCHECK(index >= 0 && index < dimension.extent, "an index lies in its dimension");
  if (dimension.begins.empty()) {
    dimension.part = grid_.part_at(d, index);
    dimension.range = grid_.range(d, dimension.part);
    return;
  }
  // Parts are nearly equal but for a short last one, so the quotient is nearly right.
  const auto guess =
      static_cast<double>(index) * static_cast<double>(dimension.parts) / static_cast<double>(dimension.extent);
  auto part = std::clamp<std::int64_t>(static_cast<std::int64_t>(guess), 0, dimension.parts - 1);
  const auto begin = [&](std::int64_t q) { return dimension.begins[static_cast<std::size_t>(q)]; };
  while (begin(part) > index) --part;
  while (begin(part + 1) <= index) ++part;
  dimension.part = part;
  dimension.range = {begin(part), begin(part + 1) - begin(part)};
}

CellLocator::Place CellLocator::locate(std::span<const std::int64_t> key) {
  Place place;
  std::int64_t sizes = 1;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    auto& dimension = dimensions_[d];
    if (key[d] < dimension.range.begin || key[d] >= dimension.range.end()) find_part(d, key[d]);
    place.tile_id = place.tile_id * dimension.parts + dimension.part;
    place.first += sizes * dimension.range.begin * dimension.later;
    place.offset = place.offset * dimension.range.size + (key[d] - dimension.range.begin);
    sizes *= dimension.range.size;
  }
  return place;
}

template <class Visit>
std::int64_t CellLocator::walk(std::int64_t position, Visit&& visit) const {
  std::int64_t sizes = 1;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const auto& dimension = dimensions_[d];
    const auto slab = sizes * dimension.later;  // positions per index of this dimension
    const auto part = grid_.part_at(d, position / slab);
    const auto range = grid_.range(d, part);
    visit(d, part, range);
    position -= range.begin * slab;
    sizes *= range.size;
  }
  return position;
}

CellLocator::TilePlace CellLocator::at(std::int64_t position) const {
  DCHECK(position >= 0 && position < grid_.shape().element_count(), "a position is that of a cell");
  TilePlace found{.place = {}, .size = 1};
  found.place.offset = walk(position, [&](std::size_t d, std::int64_t part, const PartRange& range) {
    found.place.tile_id = found.place.tile_id * dimensions_[d].parts + part;
    found.size *= range.size;
  });
  DCHECK(found.place.offset >= 0 && found.place.offset < found.size, "a cell lies in its tile");
  found.place.first = position - found.place.offset;
  return found;
}

std::vector<std::int64_t> CellLocator::key_at(std::int64_t position) const {
  std::vector<PartRange> ranges;
  auto offset = walk(position, [&](std::size_t, std::int64_t, const PartRange& range) { ranges.push_back(range); });
  std::vector<std::int64_t> key(ranges.size());
  for (std::size_t d = ranges.size(); d-- > 0;) {
    key[d] = ranges[d].begin + offset % ranges[d].size;
    offset /= ranges[d].size;
  }
  return key;
}

}  // namespace eindb
