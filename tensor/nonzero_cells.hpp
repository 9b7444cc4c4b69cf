#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tensor/cell_box_walk.hpp"
#include "tensor/shape.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Calls visit(coordinates, value) for each cell of a tile that is not zero (NaN is not), in row-major order, whether
/// the tile has values or cells. T is the C++ type of its elements. The coordinates, a span, are those in the tile.
template <class T, class Visit>
void for_each_nonzero_cell(const Tile& tile, Visit&& visit) {
  const auto& extents = tile.shape().extents();
  if (tile.shape().element_count() == 0) return;
  std::vector<std::int64_t> at(extents.size(), 0);
  if (tile.is_of_cells()) {
    std::vector<PartRange> all;
    for (const auto extent : extents) all.push_back({0, extent});
    const T* values = tile.cells().trie().template values_as<T>();
    for (CellBoxWalk walk(tile.cells(), std::move(all)); walk.next();) {
      const auto& value = values[walk.cell()];
      if (value == T(0)) continue;
      for (std::size_t d = 0; d < at.size(); ++d) at[d] = walk.coordinate(d);
      visit(std::span<const std::int64_t>(at), value);
    }
    return;
  }
  const T* values = tile.data<T>();
  if (extents.empty()) {
    if (*values != T(0)) visit(std::span<const std::int64_t>(at), *values);
    return;
  }
  // Cells of the last dimension lie one behind the other.
  const std::vector<std::int64_t> outer(extents.begin(), extents.end() - 1);
  std::vector<std::int64_t> line(outer.size(), 0);
  do {
    std::copy(line.begin(), line.end(), at.begin());
    for (std::int64_t n = 0; n < extents.back(); ++n) {
      if (values[n] == T(0)) continue;
      at.back() = n;
      visit(std::span<const std::int64_t>(at), values[n]);
    }
    values += extents.back();
  } while (next_index(line, outer));
}

}  // namespace eindb
