#include "storage/cells/cell_tally.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

// What an index takes in a list of counts, and in a table of those that have any.
constexpr double kListedBytes = 8;
constexpr double kTabledBytes = 48;

double listed_bytes(std::int64_t extent) { return kListedBytes * static_cast<double>(extent); }
double tabled_bytes(std::int64_t extent, double most_cells) {
  return kTabledBytes * std::min(static_cast<double>(extent), most_cells);
}

}  // namespace

CellTally::CellTally(Shape shape, double most_cells, std::int64_t bytes)
    : shape_(std::move(shape)), counts_(shape_.rank()), spread_(shape_.rank()) {
  CHECK(bytes > 0 && most_cells >= 0, "cells are counted in some memory");
  double all = 0;
  for (std::size_t d = 0; d < shape_.rank(); ++d) {
    const auto listed = listed_bytes(shape_[d]);
    const auto tabled = tabled_bytes(shape_[d], most_cells);
    counts_[d].listed = listed <= tabled;
    all += std::min(listed, tabled);
  }
  constexpr double kMostPasses = 1 << 20;
  passes_ = static_cast<std::int64_t>(std::clamp(std::ceil(all / static_cast<double>(bytes)), 1.0, kMostPasses));
  bytes_ = static_cast<std::int64_t>(std::min(all / static_cast<double>(passes_), 9e18));
}

void CellTally::begin(std::int64_t pass) {
  CHECK(pass >= 0 && pass < passes_, "a pass is one of those that are made");
  pass_ = pass;
  cells_ = 0;
  for (std::size_t d = 0; d < shape_.rank(); ++d)
    if (counts_[d].listed) counts_[d].list.assign(static_cast<std::size_t>(ceil_divide(shape_[d], passes_)), 0);
}

void CellTally::count(std::size_t dimension, std::int64_t index, std::int64_t cells) {
  if (passes_ > 1 && index % passes_ != pass_) return;
  auto& counts = counts_[dimension];
  if (counts.listed) counts.list[static_cast<std::size_t>(index / passes_)] += cells;
  else counts.map[index] += cells;
}

void CellTally::add(std::span<const std::uint32_t> numbers, const Shape& tile, const std::vector<std::int64_t>& first) {
  CHECK(tile.rank() == shape_.rank() && first.size() == shape_.rank(), "a tile has the dimensions of its tensor");
  cells_ += static_cast<std::int64_t>(numbers.size());
  if (shape_.rank() == 0) return;
  const auto last = shape_.rank() - 1;
  const auto length = tile[last];
  // Cells of one line differ in the last coordinate alone.
  for (std::size_t n = 0; n < numbers.size();) {
    const auto line = std::int64_t{numbers[n]} / length;
    const auto begin = line * length;
    const auto from = n;
    for (; n < numbers.size() && numbers[n] < begin + length; ++n) count(last, first[last] + numbers[n] - begin, 1);
    auto outer = line;
    for (std::size_t d = last; d-- > 0;) {
      count(d, first[d] + outer % tile[d], static_cast<std::int64_t>(n - from));
      outer /= tile[d];
    }
  }
}

void CellTally::add(const CellBlock& cells, const std::vector<std::int64_t>& first) {
  CHECK(cells.shape().rank() == shape_.rank() && first.size() == shape_.rank(),
        "a block has the dimensions of its tensor");
  const auto& trie = cells.trie();
  cells_ += trie.count();
  for (std::size_t l = 0; l < trie.levels.size(); ++l) {
    const auto& coordinates = trie.levels[l].coordinates;
    // The first cell at or behind a node: that of its first child, and so on.
    const auto first_cell = [&](std::int64_t node) {
      for (auto k = l; k + 1 < trie.levels.size(); ++k) node = trie.levels[k].begins[static_cast<std::size_t>(node)];
      return node;
    };
    const auto d = trie.order[l];
    std::int64_t from = 0;
    for (std::size_t n = 0; n < coordinates.size(); ++n) {
      const auto to = first_cell(static_cast<std::int64_t>(n) + 1);
      count(d, first[d] + coordinates[n], to - from);
      from = to;
    }
  }
}

void CellTally::end() {
  for (std::size_t d = 0; d < shape_.rank(); ++d) {
    const auto add = [&](std::int64_t cells) {
      if (cells == 0) return;
      spread_[d].indices += 1;
      spread_[d].degree = std::max(spread_[d].degree, static_cast<double>(cells));
    };
    for (const auto cells : counts_[d].list) add(cells);
    for (const auto& [index, cells] : counts_[d].map) add(cells);
    counts_[d].list = {};
    counts_[d].map = {};
  }
}

}  // namespace eindb
