#include "tensor/cell_block.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

// Calls `make` with a value of an unsigned type of that size, or of an array for complex numbers.
template <class Function>
auto with_unit(std::size_t bytes, Function function) {
  if (bytes == 4) return function(std::uint32_t{});
  if (bytes == 8) return function(std::uint64_t{});
  return function(std::array<std::uint64_t, 2>{});
}

// The node path of each cell is made level by level: a new node where this or an earlier coordinate differs from those
// of the cell before.
class TrieMaker {
 public:
  TrieMaker(std::vector<std::size_t> order, std::size_t count) {
    trie_.order = std::move(order);
    trie_.levels.resize(trie_.order.size());
    trie_.levels.back().coordinates.reserve(count);
  }

  void add(std::span<const std::uint32_t> coordinates) {
    const auto rank = trie_.levels.size();
    std::size_t level = 0;
    while (level + 1 < rank && has_any_ && coordinates[level] == trie_.levels[level].coordinates.back()) ++level;
    has_any_ = true;
    for (; level < rank; ++level) {
      trie_.levels[level].coordinates.push_back(coordinates[level]);
      if (level + 1 < rank)
        trie_.levels[level].begins.push_back(static_cast<std::int64_t>(trie_.levels[level + 1].coordinates.size()));
    }
  }

  /// A cell that differs from the one before in the last coordinate alone.
  void add_beside(std::uint32_t last) { trie_.levels.back().coordinates.push_back(last); }

  CellTrie take(std::vector<std::byte> values) {
    for (std::size_t level = 0; level + 1 < trie_.levels.size(); ++level)
      trie_.levels[level].begins.push_back(static_cast<std::int64_t>(trie_.levels[level + 1].coordinates.size()));
    trie_.values = std::move(values);
    return std::move(trie_);
  }

 private:
  CellTrie trie_;
  bool has_any_ = false;
};

std::vector<std::size_t> natural_order(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// Calls `visit` with the coordinates of every cell, by dimension, in the trie's order.
template <class Visit>
void for_each_cell(const CellTrie& trie, Visit visit) {
  const auto rank = trie.levels.size();
  if (trie.count() == 0) return;
  std::vector<std::int64_t> node(rank, 0);
  std::vector<std::uint32_t> coordinates(rank);
  const auto enter = [&](std::size_t level) {
    coordinates[trie.order[level]] = trie.levels[level].coordinates[static_cast<std::size_t>(node[level])];
  };
  for (std::size_t level = 0; level < rank; ++level) enter(level);
  const auto count = trie.count();
  for (std::int64_t cell = 0; cell < count; ++cell) {
    if (cell > 0) {
      node[rank - 1] = cell;
      for (auto level = rank - 1; level-- > 0;) {
        const auto& begins = trie.levels[level].begins;
        if (node[level + 1] < begins[static_cast<std::size_t>(node[level]) + 1]) break;
        ++node[level];
        enter(level);
      }
      enter(rank - 1);
    }
    visit(std::span<const std::uint32_t>(coordinates), cell);
  }
}

}  // namespace

std::size_t CellTrie::byte_size() const {
  std::size_t bytes = values.size();
  for (const auto& level : levels)
    bytes += level.coordinates.size() * sizeof(std::uint32_t) + level.begins.size() * sizeof(std::int64_t);
  return bytes;
}

bool CellBlock::may_have(const Shape& shape) {
  const auto& extents = shape.extents();
  return shape.rank() > 0 &&
         std::all_of(extents.begin(), extents.end(), [](auto extent) { return extent <= kMostExtent; });
}

CellBlock::CellBlock(DType type, Shape shape, CellTrie trie)
    : type_(type), shape_(std::move(shape)), trie_(std::move(trie)) {
  CHECK(may_have(shape_) && trie_.order == natural_order(shape_.rank()) && trie_.levels.size() == shape_.rank(),
        "a block has its dimensions in their order");
  CHECK(trie_.values.size() == static_cast<std::size_t>(trie_.count()) * size_of(type_), "every cell has a value");
}

CellBlock CellBlock::of_numbers(DType type, const Shape& shape, std::span<const std::int64_t> numbers,
                                std::vector<std::byte> values) {
  CHECK(may_have(shape), "cells are numbered in a shape that has numbers for them");
  const auto rank = shape.rank();
  TrieMaker maker(natural_order(rank), numbers.size());
  std::vector<std::uint32_t> coordinates(rank);
  // Cells that follow each other mostly differ in the last coordinate alone.
  const auto last = shape[rank - 1];
  std::int64_t line_begin = 0;
  std::int64_t line_end = 0;
  std::int64_t previous = -1;
  for (const auto number : numbers) {
    CHECK(number > previous, "cells are in ascending order");
    previous = number;
    if (number < line_end) {
      maker.add_beside(static_cast<std::uint32_t>(number - line_begin));
      continue;
    }
    line_begin = number / last * last;
    line_end = line_begin + last;
    auto rest = number / last;
    for (auto d = rank - 1; d-- > 0;) {
      coordinates[d] = static_cast<std::uint32_t>(rest % shape[d]);
      rest /= shape[d];
    }
    CHECK(rest == 0, "a cell lies in its shape");
    coordinates[rank - 1] = static_cast<std::uint32_t>(number - line_begin);
    maker.add(coordinates);
  }
  return {type, shape, maker.take(std::move(values))};
}

CellBlock CellBlock::of_dense(DType type, const Shape& shape, std::span<const std::byte> dense) {
  return with_unit(size_of(type), [&](auto unit) {
    using Unit = decltype(unit);
    const auto* cells = reinterpret_cast<const Unit*>(dense.data());
    const auto count = shape.element_count();
    CHECK(dense.size() == static_cast<std::size_t>(count) * sizeof(Unit), "dense values are those of their shape");
    std::vector<std::int64_t> numbers;
    std::vector<std::byte> values;
    for (std::int64_t n = 0; n < count; ++n) {
      if (cells[n] == Unit{}) continue;
      numbers.push_back(n);
      const auto* bytes = reinterpret_cast<const std::byte*>(cells + n);
      values.insert(values.end(), bytes, bytes + sizeof(Unit));
    }
    return of_numbers(type, shape, numbers, std::move(values));
  });
}

namespace {

constexpr std::int64_t kMostPlacesPerCell = 16;

// Cells in the order of one coordinate, which is below `extent`, and otherwise as they were.
template <class Unit>
void sort_by_coordinate(std::int64_t extent, std::span<const std::uint32_t> coordinates,
                        std::vector<std::int64_t>& numbers, Unit* values) {
  std::vector<std::size_t> begins(static_cast<std::size_t>(extent) + 1, 0);
  for (const auto coordinate : coordinates) ++begins[coordinate + std::size_t{1}];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::int64_t> sorted(numbers.size());
  const std::vector<Unit> before(values, values + numbers.size());
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const auto place = begins[coordinates[n]]++;
    sorted[place] = numbers[n];
    values[place] = before[n];
  }
  numbers = std::move(sorted);
}

}  // namespace

CellTrie CellBlock::in_order(std::vector<std::size_t> order) const {
  CHECK(order.size() == shape_.rank(), "an order is of all dimensions");
  if (order == trie_.order) return trie_;
  // As numbers in the permuted shape, which has as many cells.
  std::vector<std::int64_t> extents;
  for (const auto dimension : order) extents.push_back(shape_[dimension]);
  std::vector<std::int64_t> strides(order.size(), 1);  // by level
  for (auto level = order.size(); level-- > 1;) strides[level - 1] = strides[level] * extents[level];
  std::vector<std::int64_t> stride_of(order.size());  // by dimension
  for (std::size_t level = 0; level < order.size(); ++level) stride_of[order[level]] = strides[level];
  // One dimension comes to lie outside of the others, which stay as they are, if its coordinates alone are sorted.
  const bool sorts_one =
      std::is_sorted(order.begin() + 1, order.end()) && shape_[order.front()] <= kMostPlacesPerCell * count();
  std::vector<std::int64_t> numbers;
  std::vector<std::uint32_t> coordinates;
  numbers.reserve(static_cast<std::size_t>(count()));
  if (sorts_one) coordinates.reserve(static_cast<std::size_t>(count()));
  for_each_cell(trie_, [&](std::span<const std::uint32_t> at, std::int64_t) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < at.size(); ++d) number += stride_of[d] * at[d];
    numbers.push_back(number);
    if (sorts_one) coordinates.push_back(at[order.front()]);
  });
  auto values = trie_.values;
  if (sorts_one) {
    with_unit(size_of(type_), [&](auto unit) {
      sort_by_coordinate(shape_[order.front()], coordinates, numbers, reinterpret_cast<decltype(unit)*>(values.data()));
    });
  } else {
    sort_cells(numbers, values, size_of(type_));
  }
  auto permuted = of_numbers(type_, Shape(std::move(extents)), numbers, std::move(values)).trie_;
  permuted.order = std::move(order);
  return permuted;
}

std::vector<std::int64_t> CellBlock::numbers() const {
  const auto strides = shape_.row_major_strides();
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(count()));
  for_each_cell(trie_, [&](std::span<const std::uint32_t> at, std::int64_t) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < at.size(); ++d) number += strides[d] * at[d];
    numbers.push_back(number);
  });
  return numbers;
}

void CellBlock::expand(std::span<std::byte> target) const {
  const auto size = size_of(type_);
  CHECK(target.size() ==
            static_cast<std::size_t>(checked_multiply(shape_.element_count(), static_cast<std::int64_t>(size))),
        "cells are expanded into all of their shape");
  std::fill(target.begin(), target.end(), std::byte{0});
  const auto strides = shape_.row_major_strides();
  for_each_cell(trie_, [&](std::span<const std::uint32_t> at, std::int64_t cell) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < at.size(); ++d) number += strides[d] * at[d];
    std::memcpy(target.data() + static_cast<std::size_t>(number) * size,
                trie_.values.data() + static_cast<std::size_t>(cell) * size, size);
  });
}

double bytes_of_cell(DType type, std::size_t rank) {
  constexpr std::size_t kNode = sizeof(std::uint32_t) + sizeof(std::int64_t);
  return static_cast<double>(size_of(type) + (rank - 1) * kNode + sizeof(std::uint32_t));
}

namespace {

// By eleven bits of the numbers after the other, least significant ones first, each time in a stable way.
template <class Unit>
void sort_by_digits(std::vector<std::int64_t>& numbers, Unit* values, std::int64_t largest) {
  constexpr int kBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  const auto count = numbers.size();
  std::vector<std::int64_t> other(count);
  std::vector<Unit> moved(count);
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest)));
  for (int shift = 0; shift < bits; shift += kBits) {
    std::vector<std::size_t> begins(kDigits + 1, 0);
    const auto digit = [&](std::int64_t number) {
      return static_cast<std::size_t>(static_cast<std::uint64_t>(number) >> static_cast<unsigned>(shift)) &
             (kDigits - 1);
    };
    for (const auto number : numbers) ++begins[digit(number) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    for (std::size_t n = 0; n < count; ++n) {
      const auto place = begins[digit(numbers[n])]++;
      other[place] = numbers[n];
      moved[place] = values[n];
    }
    numbers.swap(other);
    std::copy(moved.begin(), moved.end(), values);
  }
}

}  // namespace

void sort_cells(std::vector<std::int64_t>& numbers, std::vector<std::byte>& values, std::size_t value_bytes) {
  CHECK(values.size() == numbers.size() * value_bytes, "every cell has a value");
  if (std::is_sorted(numbers.begin(), numbers.end())) return;
  const auto largest = *std::max_element(numbers.begin(), numbers.end());
  with_unit(value_bytes,
            [&](auto unit) { sort_by_digits(numbers, reinterpret_cast<decltype(unit)*>(values.data()), largest); });
}

}  // namespace eindb
