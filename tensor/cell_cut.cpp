#include "tensor/cell_cut.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

// The place of one coordinate: the part of the fine grid, and the index in it.
class PartFinder {
 public:
  PartFinder(const TileGrid& fine, std::size_t dimension, std::int64_t begin)
      : fine_(fine), dimension_(dimension), begin_(begin) {}

  void find(std::uint32_t coordinate) {
    const auto index = begin_ + std::int64_t{coordinate};
    if (index < range_.begin || index >= range_.end()) {
      part_ = fine_.part_at(dimension_, index);
      range_ = fine_.range(dimension_, part_);
    }
    offset_ = index - range_.begin;
  }
  std::int64_t part() const { return part_; }
  std::int64_t offset() const { return offset_; }
  std::int64_t size() const { return range_.size; }

 private:
  const TileGrid& fine_;
  std::size_t dimension_;
  std::int64_t begin_;
  PartRange range_;
  std::int64_t part_ = 0;
  std::int64_t offset_ = 0;
};

// The fine tile of every cell, and the number that the cell has in it, in the order of the cells.
struct Places {
  std::vector<std::int64_t> tiles;
  std::vector<std::int64_t> numbers;
};

class PlaceFinder {
 public:
  PlaceFinder(const CellTrie& trie, const TileGrid& coarse, std::int64_t tile_id, const TileGrid& fine) : trie_(trie) {
    const auto begin = coarse.tile_begin(coarse.key_of(tile_id));
    for (std::size_t d = 0; d < fine.rank(); ++d) finders_.emplace_back(fine, d, begin[d]);
    parts_ = fine.partition();
    const auto cells = static_cast<std::size_t>(trie.count());
    places_.tiles.reserve(cells);
    places_.numbers.reserve(cells);
  }

  Places run() {
    descend(0, 0, static_cast<std::int64_t>(trie_.levels.front().coordinates.size()), 0);
    return std::move(places_);
  }

 private:
  // Adds the cells below the nodes `begin` to before `end` of a level; `tile` is the number of the parts before.
  void descend(std::size_t level, std::int64_t begin, std::int64_t end, std::int64_t tile) {
    const auto& nodes = trie_.levels[level];
    auto& finder = finders_[level];
    const bool is_last = level + 1 == trie_.levels.size();
    for (auto node = begin; node < end; ++node) {
      const auto n = static_cast<std::size_t>(node);
      finder.find(nodes.coordinates[n]);
      const auto below = tile * parts_[level] + finder.part();
      if (!is_last) {
        descend(level + 1, nodes.begins[n], nodes.begins[n + 1], below);
        continue;
      }
      std::int64_t number = 0;
      for (const auto& each : finders_) number = number * each.size() + each.offset();
      places_.tiles.push_back(below);
      places_.numbers.push_back(number);
    }
  }

  const CellTrie& trie_;
  Partition parts_;
  std::vector<PartFinder> finders_;
  Places places_;
};

}  // namespace

bool nests_in(const TileGrid& fine, const TileGrid& coarse) {
  CHECK(fine.shape() == coarse.shape(), "cuts of one tensor are compared");
  for (std::size_t d = 0; d < fine.rank(); ++d) {
    if (coarse.partition()[d] == 1) continue;
    const bool alike = fine.edge(d) == coarse.edge(d) && fine.partition()[d] == coarse.partition()[d];
    const bool even = fine.edge(d) == 0 && coarse.edge(d) == 0;
    if (!alike && !(even && fine.partition()[d] % coarse.partition()[d] == 0)) return false;
  }
  return true;
}

void cut_cells(const CellBlock& cells, const TileGrid& coarse, std::int64_t tile_id, const TileGrid& fine,
               const std::function<void(std::int64_t tile_id, CellBlock cells)>& visit) {
  DCHECK(nests_in(fine, coarse), "a tile is cut along the borders of finer tiles");
  CHECK(cells.shape() == coarse.tile_shape(coarse.key_of(tile_id)), "cells are cut as a tile of their grid");
  if (cells.count() == 0) return;
  const auto& trie = cells.trie();
  const auto places = PlaceFinder(trie, coarse, tile_id, fine).run();
  const auto count = places.tiles.size();

  // The cells of one tile are in the order of their numbers already, as both orders are row-major.
  std::unordered_map<std::int64_t, std::size_t> counts;
  for (const auto tile : places.tiles) ++counts[tile];
  std::vector<std::pair<std::int64_t, std::size_t>> tiles(counts.begin(), counts.end());
  std::sort(tiles.begin(), tiles.end());
  std::size_t begin = 0;
  for (const auto& [tile, size] : tiles) counts[tile] = std::exchange(begin, begin + size);

  const auto size = size_of(cells.dtype());
  std::vector<std::int64_t> numbers(count);
  std::vector<std::byte> values(count * size);
  for (std::size_t n = 0; n < count; ++n) {
    const auto to = counts[places.tiles[n]]++;
    numbers[to] = places.numbers[n];
    std::memcpy(values.data() + to * size, trie.values.data() + n * size, size);
  }
  begin = 0;
  for (const auto& [tile, length] : tiles) {
    const auto* from = values.data() + begin * size;
    visit(tile, CellBlock::of_numbers(cells.dtype(), fine.tile_shape(fine.key_of(tile)),
                                      std::span(numbers).subspan(begin, length), {from, from + length * size}));
    begin += length;
  }
}

std::int64_t bytes_for_cut(DType type, std::size_t rank, std::int64_t cells) {
  // The place of each cell, its number again and its value, an entry of the table at worst, and the block of all cells.
  constexpr std::int64_t kPlace = 24;
  constexpr std::int64_t kEntry = 64;
  const auto each =
      kPlace + kEntry + static_cast<std::int64_t>(size_of(type)) + static_cast<std::int64_t>(bytes_of_cell(type, rank));
  return checked_multiply(cells, each);
}

}  // namespace eindb
