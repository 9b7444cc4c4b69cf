#include "tensor/tile_gather.hpp"

#include <algorithm>
#include <vector>

#include "tensor/tile_overlap.hpp"

namespace eindb {
namespace {

using Index = std::vector<std::int64_t>;

// The range of source parts that overlap [begin, end) in each dimension of the target tile.
struct Overlap {
  Index first;
  Index count;
};

Overlap overlapping_parts(const TileGrid& source, const Index& begin, const Shape& shape) {
  Overlap overlap;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const auto extent = source.shape()[d];
    const auto parts = source.partition()[d];
    const auto first = part_of(extent, parts, begin[d]);
    overlap.first.push_back(first);
    overlap.count.push_back(part_of(extent, parts, begin[d] + shape[d] - 1) - first + 1);
  }
  return overlap;
}

}  // namespace

std::optional<Tile> gather_tile(const TileGrid& source, DType type,
                                const std::function<TilePtr(std::int64_t tile_id)>& read, const TileGrid& target,
                                std::int64_t tile_id, std::int64_t& tiles_in) {
  const auto key = target.key_of(tile_id);
  const auto begin = target.tile_begin(key);
  const auto shape = target.tile_shape(key);
  if (shape.element_count() == 0) return std::nullopt;

  const auto overlap = overlapping_parts(source, begin, shape);
  std::optional<Tile> tile;
  bool begins_as_zeros = false;  // cells without a piece are zero already
  Index step(shape.rank(), 0);
  do {
    TileKey source_key = overlap.first;
    for (std::size_t d = 0; d < step.size(); ++d) source_key[d] += step[d];
    const auto piece = read(source.id_of(source_key));
    if (piece == nullptr) {
      if (!tile) begins_as_zeros = true;
      else if (!begins_as_zeros) TileOverlap(source, source_key, target, key).clear(*tile);
      continue;
    }
    ++tiles_in;
    if (!tile) tile = begins_as_zeros ? Tile::zeros(type, shape) : Tile::uninitialized(type, shape);
    TileOverlap(source, source_key, target, key).copy(*piece, *tile);
  } while (next_index(step, overlap.count));
  return tile;
}

}  // namespace eindb
