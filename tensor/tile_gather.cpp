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

Overlap overlapping_parts(const TileGrid& source, const Index& begin, const Index& end) {
  Overlap overlap;
  for (std::size_t d = 0; d < begin.size(); ++d) {
    const auto first = source.part_at(d, begin[d]);
    overlap.first.push_back(first);
    overlap.count.push_back(source.part_at(d, end[d] - 1) - first + 1);
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

  Index end;
  bool begins_as_zeros = false;  // cells without a piece are zero already
  for (std::size_t d = 0; d < begin.size(); ++d) {
    end.push_back(std::min(begin[d] + shape[d], source.shape()[d]));
    if (end[d] <= begin[d]) return std::nullopt;
    begins_as_zeros = begins_as_zeros || end[d] < begin[d] + shape[d];
  }
  const auto overlap = overlapping_parts(source, begin, end);
  std::optional<Tile> tile;
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
