#include "tensor/tile_gather.hpp"

#include <algorithm>
#include <vector>

#include "tensor/tile_overlap.hpp"

namespace eindb {
namespace {

using Index = std::vector<std::int64_t>;

// The cells of a target's tile that a source has, in the source's indices, and the parts that have them.
struct Overlap {
  Index first;  // part, by dimension
  Index count;
  std::int64_t cells = 1;
};

Overlap overlap_of(const GatherSource& source, std::size_t along, const Index& begin, const Shape& shape) {
  Overlap overlap;
  for (std::size_t d = 0; d < begin.size(); ++d) {
    const auto offset = d == along ? source.begin : 0;
    const auto first = std::max<std::int64_t>(begin[d] - offset, 0);
    const auto end = std::min(begin[d] + shape[d] - offset, source.grid.shape()[d]);
    overlap.cells *= std::max<std::int64_t>(end - first, 0);
    if (overlap.cells == 0) return overlap;
    overlap.first.push_back(source.grid.part_at(d, first));
    overlap.count.push_back(source.grid.part_at(d, end - 1) - overlap.first.back() + 1);
  }
  return overlap;
}

}  // namespace

std::optional<Tile> gather_tile(std::span<const GatherSource> sources, std::size_t along, DType type,
                                const TileGrid& target, std::int64_t tile_id, std::int64_t& tiles_in) {
  const auto key = target.key_of(tile_id);
  const auto begin = target.tile_begin(key);
  const auto shape = target.tile_shape(key);
  if (shape.element_count() == 0) return std::nullopt;

  std::vector<Overlap> overlaps;
  std::int64_t cells = 0;
  for (const auto& source : sources) cells += overlaps.emplace_back(overlap_of(source, along, begin, shape)).cells;
  bool begins_as_zeros = cells < shape.element_count();  // cells without a piece are zero already
  std::optional<Tile> tile;
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const auto& [first, count, cells_of_source] = overlaps[n];
    if (cells_of_source == 0) continue;
    const auto& source = sources[n];
    Index step(shape.rank(), 0);
    do {
      TileKey source_key = first;
      for (std::size_t d = 0; d < step.size(); ++d) source_key[d] += step[d];
      const auto piece = source.read(source.grid.id_of(source_key));
      if (piece == nullptr) {
        if (!tile) begins_as_zeros = true;
        else if (!begins_as_zeros) TileOverlap(source.grid, source_key, target, key, along, source.begin).clear(*tile);
        continue;
      }
      ++tiles_in;
      if (!tile) tile = begins_as_zeros ? Tile::zeros(type, shape) : Tile::uninitialized(type, shape);
      TileOverlap(source.grid, source_key, target, key, along, source.begin).copy(*piece, *tile);
    } while (next_index(step, count));
  }
  return tile;
}

std::optional<Tile> gather_tile(const TileGrid& source, DType type,
                                const std::function<TilePtr(std::int64_t tile_id)>& read, const TileGrid& target,
                                std::int64_t tile_id, std::int64_t& tiles_in) {
  const GatherSource only{source, read};
  return gather_tile(std::span(&only, 1), 0, type, target, tile_id, tiles_in);
}

}  // namespace eindb
