#include "tensor/cell_gather.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {

CellGather::CellGather(DType type, const TileGrid& source, const TileGrid& target, std::int64_t tile_id)
    : type_(type), source_(source) {
  CHECK(source.shape() == target.shape(), "cells are gathered from another cut of their tensor");
  const auto key = target.key_of(tile_id);
  shape_ = target.tile_shape(key);
  CHECK(CellBlock::may_have(shape_), "cells are gathered into a tile that may have them");
  strides_ = shape_.row_major_strides();
  for (std::size_t d = 0; d < key.size(); ++d) {
    box_.push_back(target.range(d, key[d]));
  }
  sources_ = window_over(source, box_);
}

std::optional<std::int64_t> CellGather::next(std::int64_t from) const {
  if (from >= source_.tile_count()) return std::nullopt;
  const auto key = sources_.next(source_.key_of(std::max<std::int64_t>(0, from)));
  return key ? std::optional(source_.id_of(*key)) : std::nullopt;
}

void CellGather::reserve(std::int64_t cells) {
  numbers_.reserve(static_cast<std::size_t>(cells));
  values_.reserve(static_cast<std::size_t>(cells) * size_of(type_));
}

void CellGather::add(std::int64_t source_tile, std::span<const std::uint32_t> numbers,
                     std::span<const std::byte> values) {
  const auto key = source_.key_of(source_tile);
  add_numbered(source_.tile_begin(key), source_.tile_shape(key), numbers, values);
}

// Of a block that has this index as its first one along the first dimension.
CellGather::Cells CellGather::within(std::int64_t begin, const CellBlock& cells) const {
  const auto& trie = cells.trie();
  if (cells.count() == 0) return {0, 0, 0, 0};
  CHECK(!trie.levels.empty() && trie.order.front() == 0, "cells are in the order of their coordinates");
  const auto& coordinates = trie.levels.front().coordinates;
  const auto place = [&](std::int64_t index) {
    return std::lower_bound(coordinates.begin(), coordinates.end(), index - begin,
                            [](std::uint32_t coordinate, std::int64_t wanted) { return coordinate < wanted; }) -
           coordinates.begin();
  };
  Cells out{place(box_.front().begin), place(box_.front().end()), 0, 0};
  out.from_cell = out.from_node;
  out.to_cell = out.to_node;
  for (std::size_t l = 0; l + 1 < trie.levels.size(); ++l) {
    out.from_cell = trie.levels[l].begins[static_cast<std::size_t>(out.from_cell)];
    out.to_cell = trie.levels[l].begins[static_cast<std::size_t>(out.to_cell)];
  }
  return out;
}

std::int64_t CellGather::most_of(std::int64_t source_tile, const CellBlock& cells) const {
  const auto part = within(source_.tile_begin(source_.key_of(source_tile)).front(), cells);
  return part.to_cell - part.from_cell;
}

namespace {

// The row-major numbers of the cells under some nodes of a level.
void append_numbers(const CellTrie& trie, const std::vector<std::int64_t>& strides, std::size_t level,
                    std::int64_t from, std::int64_t to, std::int64_t base, std::vector<std::int64_t>& numbers) {
  const auto& [coordinates, begins] = trie.levels[level];
  for (auto node = static_cast<std::size_t>(from); std::cmp_less(node, to); ++node) {
    const auto number = base + strides[level] * coordinates[node];
    if (begins.empty()) numbers.push_back(number);
    else append_numbers(trie, strides, level + 1, begins[node], begins[node + 1], number, numbers);
  }
}

}  // namespace

void CellGather::add(std::int64_t source_tile, const CellBlock& cells) {
  add_at(source_.tile_begin(source_.key_of(source_tile)), cells);
}

void CellGather::add_at(const std::vector<std::int64_t>& begin, const CellBlock& cells) {
  CHECK(begin.size() == shape_.rank() && cells.dtype() == type_, "cells are gathered of blocks of one tensor");
  const auto part = within(begin.front(), cells);
  const auto count = part.to_cell - part.from_cell;
  if (count == 0) return;
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  append_numbers(cells.trie(), cells.shape().row_major_strides(), 0, part.from_node, part.to_node, 0, numbers);
  const auto size = size_of(type_);
  const std::span values(cells.trie().values);
  add_numbered<std::int64_t>(begin, cells.shape(), numbers,
                             values.subspan(static_cast<std::size_t>(part.from_cell) * size, numbers.size() * size));
}

template <class Number>
void CellGather::add_numbered(const std::vector<std::int64_t>& begin, const Shape& tile,
                              std::span<const Number> numbers, std::span<const std::byte> values) {
  const auto size = size_of(type_);
  CHECK(values.size() == numbers.size() * size, "every cell has a value");
  const auto rank = tile.rank();
  const auto last = tile[rank - 1];
  const auto& last_box = box_[rank - 1];
  std::int64_t line_end = 0;
  std::int64_t line_begin = 0;
  std::int64_t base = 0;  // the number, in the target, of the line's cell 0; it may be outside
  bool inside = false;
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const auto number = static_cast<std::int64_t>(numbers[n]);
    if (number >= line_end) {
      auto line = number / last;
      line_begin = line * last;
      line_end = line_begin + last;
      base = begin[rank - 1] - last_box.begin;
      inside = true;
      for (auto d = rank - 1; d-- > 0;) {
        const auto at = begin[d] + line % tile[d];
        line /= tile[d];
        inside = inside && at >= box_[d].begin && at < box_[d].end();
        base += (at - box_[d].begin) * strides_[d];
      }
      CHECK(line == 0, "a cell lies in its tile");
    }
    const auto at = begin[rank - 1] + number - line_begin;
    if (!inside || at < last_box.begin || at >= last_box.end()) continue;
    numbers_.push_back(base + number - line_begin);
    const auto* value = values.data() + n * size;
    values_.insert(values_.end(), value, value + size);
  }
}

CellBlock CellGather::take() {
  sort_cells(numbers_, values_, size_of(type_));
  return CellBlock::of_numbers(type_, shape_, numbers_, std::move(values_));
}

std::int64_t CellGather::bytes_for(DType type, std::size_t rank, std::int64_t cells) {
  // Numbers and values twice while they are sorted; each cell may have a node of its own in every level.
  const auto per_cell =
      2 * (sizeof(std::int64_t) + size_of(type)) + rank * (sizeof(std::uint32_t) + sizeof(std::int64_t));
  return checked_multiply(cells + 1, static_cast<std::int64_t>(per_cell));
}

}  // namespace eindb
