#include "tensor/tile_window.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {

std::int64_t TileWindow::tile_count() const { return checked_product(size); }

TileKey TileWindow::key_of(std::int64_t number) const {
  TileKey key(size.size());
  for (std::size_t d = size.size(); d-- > 0;) {
    key[d] = begin[d] + number % size[d];
    number /= size[d];
  }
  return key;
}

std::int64_t TileWindow::number_of(const TileKey& key) const {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < size.size(); ++d) {
    CHECK(key[d] >= begin[d] && key[d] < begin[d] + size[d], "a window has tiles of its own");
    number = number * size[d] + key[d] - begin[d];
  }
  return number;
}

// The next key is that of the parts as they are up to a dimension, in which it is greater, and the first parts of the
// dimensions behind it.
std::optional<TileKey> TileWindow::next(TileKey key) const {
  CHECK(key.size() == begin.size(), "a key has a part for each dimension of its window");
  const auto end = [&](std::size_t d) { return begin[d] + size[d]; };
  for (const auto parts : size)
    if (parts == 0) return std::nullopt;
  for (std::size_t d = 0; d < key.size(); ++d) {
    if (key[d] >= begin[d] && key[d] < end(d)) continue;
    auto rest = d;
    if (key[d] >= end(d)) {
      while (rest > 0 && key[rest - 1] + 1 == end(rest - 1)) --rest;
      if (rest == 0) return std::nullopt;
      ++key[rest - 1];
    }
    std::copy(begin.begin() + static_cast<std::ptrdiff_t>(rest), begin.end(),
              key.begin() + static_cast<std::ptrdiff_t>(rest));
    break;
  }
  return key;
}

TileWindow window_over(const TileGrid& grid, std::span<const PartRange> box) {
  CHECK(box.size() == grid.rank(), "a box has a range for each dimension");
  TileWindow window;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const bool empty = box[d].size == 0;
    window.begin.push_back(empty ? 0 : grid.part_at(d, box[d].begin));
    window.size.push_back(empty ? 0 : grid.part_at(d, box[d].end() - 1) + 1 - window.begin.back());
  }
  return window;
}

}  // namespace eindb
