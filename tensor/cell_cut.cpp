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

// The place of one coordinate of a coarse tile: the part of the fine grid, counted from the first one in the tile, and
// the index in it.
class PartFinder {
 public:
  PartFinder(const TileGrid& fine, std::size_t dimension, const PartRange& tile, std::int64_t cells)
      : fine_(fine), dimension_(dimension), begin_(tile.begin) {
    if (tile.size == 0) return;
    first_ = fine.part_at(dimension, tile.begin);
    count_ = fine.part_at(dimension, tile.end() - 1) + 1 - first_;
    if (tile.size > cells) return;
    for (std::int64_t part = 0; part < count_; ++part) {
      ranges_.push_back(fine.range(dimension, first_ + part));
      known_.resize(static_cast<std::size_t>(std::min(ranges_.back().end(), tile.end()) - tile.begin),
                    static_cast<std::uint32_t>(part));
    }
  }

  void find(std::uint32_t coordinate) {
    const auto index = begin_ + std::int64_t{coordinate};
    if (!known_.empty()) {
      part_ = known_[coordinate];
      range_ = ranges_[static_cast<std::size_t>(part_)];
    } else if (index < range_.begin || index >= range_.end()) {
      const auto part = fine_.part_at(dimension_, index);
      range_ = fine_.range(dimension_, part);
      part_ = part - first_;
    }
    offset_ = index - range_.begin;
  }
  std::int64_t part() const { return part_; }
  std::int64_t offset() const { return offset_; }
  std::int64_t size() const { return range_.size; }
  std::int64_t first() const { return first_; }
  std::int64_t count() const { return count_; }

 private:
  const TileGrid& fine_;
  std::size_t dimension_;
  std::int64_t begin_;
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;            // of parts in the tile
  std::vector<PartRange> ranges_;     // of these, where there are not more coordinates than cells
  std::vector<std::uint32_t> known_;  // and the part of each coordinate
  PartRange range_;
  std::int64_t part_ = 0;
  std::int64_t offset_ = 0;
};

// A number for each of some tiles, all of which have one if there are not many more of them than cells.
class TileNumbers {
 public:
  TileNumbers(std::int64_t tiles, std::size_t cells) {
    constexpr std::size_t kTilesPerCell = 4;
    if (static_cast<std::uint64_t>(tiles) <= kTilesPerCell * cells) all_.resize(static_cast<std::size_t>(tiles));
  }
  std::size_t& of(std::int64_t tile) { return all_.empty() ? some_[tile] : all_[static_cast<std::size_t>(tile)]; }
  /// The tiles whose number is not 0, ascending.
  std::vector<std::pair<std::int64_t, std::size_t>> others_than_zero() const {
    std::vector<std::pair<std::int64_t, std::size_t>> tiles(some_.begin(), some_.end());
    std::sort(tiles.begin(), tiles.end());
    for (std::size_t tile = 0; tile < all_.size(); ++tile)
      if (all_[tile] != 0) tiles.emplace_back(static_cast<std::int64_t>(tile), all_[tile]);
    return tiles;
  }

 private:
  std::vector<std::size_t> all_;
  std::unordered_map<std::int64_t, std::size_t> some_;
};

// The fine tile of every cell, by its number among those in the coarse one, and the number that the cell has in it, in
// the order of the cells.
struct Places {
  std::vector<std::int64_t> tiles;
  std::vector<std::int64_t> numbers;
};

class PlaceFinder {
 public:
  PlaceFinder(const CellTrie& trie, const TileGrid& coarse, std::int64_t tile_id, const TileGrid& fine) : trie_(trie) {
    const auto key = coarse.key_of(tile_id);
    for (std::size_t d = 0; d < fine.rank(); ++d) finders_.emplace_back(fine, d, coarse.range(d, key[d]), trie.count());
    const auto cells = static_cast<std::size_t>(trie.count());
    places_.tiles.reserve(cells);
    places_.numbers.reserve(cells);
  }

  Places run() {
    descend(0, 0, static_cast<std::int64_t>(trie_.levels.front().coordinates.size()), 0);
    return std::move(places_);
  }
  /// The number of fine tiles, and the key of one.
  std::int64_t tile_count() const {
    std::int64_t count = 1;
    for (const auto& finder : finders_) count = checked_multiply(count, finder.count());
    return count;
  }
  TileKey key_of(std::int64_t tile) const {
    TileKey key(finders_.size());
    for (auto d = key.size(); d-- > 0;) {
      key[d] = finders_[d].first() + tile % finders_[d].count();
      tile /= finders_[d].count();
    }
    return key;
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
      const auto below = tile * finder.count() + finder.part();
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
  PlaceFinder finder(trie, coarse, tile_id, fine);
  const auto places = finder.run();
  const auto count = places.tiles.size();

  // The cells of one tile are in the order of their numbers already, as both orders are row-major.
  TileNumbers places_of_tiles(finder.tile_count(), count);
  for (const auto tile : places.tiles) ++places_of_tiles.of(tile);
  const auto tiles = places_of_tiles.others_than_zero();
  std::size_t begin = 0;
  for (const auto& [tile, size] : tiles) places_of_tiles.of(tile) = std::exchange(begin, begin + size);

  const auto size = size_of(cells.dtype());
  std::vector<std::int64_t> numbers(count);
  std::vector<std::byte> values(count * size);
  for (std::size_t n = 0; n < count; ++n) {
    const auto to = places_of_tiles.of(places.tiles[n])++;
    numbers[to] = places.numbers[n];
    std::memcpy(values.data() + to * size, trie.values.data() + n * size, size);
  }
  begin = 0;
  for (const auto& [tile, length] : tiles) {
    const auto* from = values.data() + begin * size;
    const auto key = finder.key_of(tile);
    visit(fine.id_of(key),
          CellBlock::of_numbers(cells.dtype(), fine.tile_shape(key), std::span(numbers).subspan(begin, length),
                                {from, from + length * size}));
    begin += length;
  }
}

std::int64_t bytes_for_cut(DType type, std::size_t rank, std::int64_t cells) {
  // The place of each cell, its number again and its value, an entry of the table at worst, the parts of coordinates,
  // and the block of all cells.
  constexpr std::int64_t kPlace = 24;
  constexpr std::int64_t kEntry = 64;
  const auto each = kPlace + kEntry + 4 * static_cast<std::int64_t>(rank) + static_cast<std::int64_t>(size_of(type)) +
                    static_cast<std::int64_t>(bytes_of_cell(type, rank));
  return checked_multiply(cells, each);
}

}  // namespace eindb
