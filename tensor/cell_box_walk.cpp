#include "tensor/cell_box_walk.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"

namespace eindb {

CellBoxWalk::CellBoxWalk(const CellBlock& cells, std::vector<PartRange> box)
    : trie_(cells.trie()), box_(std::move(box)), levels_(box_.size()) {
  CHECK(box_.size() == cells.shape().rank() && !box_.empty(), "a box has the dimensions of its block");
}

void CellBoxWalk::enter(std::size_t level, std::int64_t first, std::int64_t last) {
  const auto& coordinates = trie_.levels[level].coordinates;
  const auto place = [&](std::int64_t coordinate) {
    return std::lower_bound(coordinates.begin() + first, coordinates.begin() + last, coordinate) - coordinates.begin();
  };
  levels_[level] = {place(box_[level].begin), place(box_[level].end())};
}

bool CellBoxWalk::next() {
  if (trie_.count() == 0) return false;
  std::size_t level = 0;
  if (std::exchange(started_, true)) {
    level = levels_.size() - 1;
    ++levels_[level].node;
  } else {
    enter(0, 0, static_cast<std::int64_t>(trie_.levels.front().coordinates.size()));
  }
  for (;;) {
    if (levels_[level].node >= levels_[level].end) {
      if (level == 0) return false;
      ++levels_[--level].node;
    } else if (level + 1 == levels_.size()) {
      return true;
    } else {
      const auto& begins = trie_.levels[level].begins;
      const auto node = static_cast<std::size_t>(levels_[level].node);
      enter(++level, begins[node], begins[node + 1]);
    }
  }
}

CellBlock cells_in_box(const CellBlock& cells, const std::vector<PartRange>& box) {
  std::vector<std::int64_t> extents;
  for (const auto& range : box) extents.push_back(range.size);
  const Shape shape(std::move(extents));
  const auto strides = shape.row_major_strides();
  const auto size = size_of(cells.dtype());
  std::vector<std::int64_t> numbers;
  std::vector<std::byte> values;
  for (CellBoxWalk walk(cells, box); walk.next();) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < box.size(); ++d) number += (walk.coordinate(d) - box[d].begin) * strides[d];
    numbers.push_back(number);
    const auto* value = cells.trie().values.data() + static_cast<std::size_t>(walk.cell()) * size;
    values.insert(values.end(), value, value + size);
  }
  return CellBlock::of_numbers(cells.dtype(), shape, numbers, std::move(values));
}

}  // namespace eindb
