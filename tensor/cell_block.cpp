#include "tensor/cell_block.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/poll_steps.hpp"
#include "tensor/huge_pages.hpp"

namespace eindb {
namespace {

// Calls `make` with a value of an unsigned type of that size, or of an array for complex numbers.
template <class Function>
auto with_unit(std::size_t bytes, Function function) {
  if (bytes == 4) return function(std::uint32_t{});
  if (bytes == 8) return function(std::uint64_t{});
  return function(std::array<std::uint64_t, 2>{});
}

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

// The number of each cell, in the trie's order, by the stride of each dimension.
std::vector<std::int64_t> numbers_by(const CellTrie& trie, const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(trie.count()));
  for_each_cell(trie, [&](std::span<const std::uint32_t> at, std::int64_t) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < at.size(); ++d) number += strides[d] * at[d];
    numbers.push_back(number);
  });
  return numbers;
}

}  // namespace

std::size_t CellTrie::byte_size() const {
  std::size_t bytes = values.size();
  for (const auto& level : levels)
    bytes += level.coordinates.size() * sizeof(std::uint32_t) + level.begins.size() * sizeof(std::int64_t);
  return bytes;
}

bool CellTrie::is_borrowed() const {
  return values.is_borrowed() || std::any_of(levels.begin(), levels.end(), [](const Level& level) {
           return level.coordinates.is_borrowed() || level.begins.is_borrowed();
         });
}

CellTrie CellTrie::kept() const {
  CellTrie trie{order, {}, values.kept()};
  for (const auto& level : levels) trie.levels.push_back({level.coordinates.kept(), level.begins.kept()});
  return trie;
}

CellTrie GrowingTrie::take() && {
  CellTrie trie{std::move(order), {}, std::move(values)};
  trie.levels.reserve(levels.size());
  for (auto& level : levels) trie.levels.push_back(std::move(level).take());
  return trie;
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
  CellMaker maker(shape);
  maker.make_room(numbers.size());
  std::int64_t previous = -1;
  for (const auto number : numbers) {
    CHECK(number > previous, "cells are in ascending order");
    previous = number;
    maker.add(number);
  }
  return maker.take(type, std::move(values));
}

CellMaker::CellMaker(const Shape& shape) : shape_(shape) {
  CHECK(CellBlock::may_have(shape), "cells are numbered in a shape that has numbers for them");
  outer_.resize(shape.rank() - 1);
  coordinates_.resize(shape.rank() - 1);
}

void CellMaker::reserve(std::size_t cells) { reserve_huge(last_, cells); }

// In small steps, so that what is set to zero is still in a cache when it is written.
void CellMaker::make_room(std::size_t cells) {
  if (count_ + cells <= last_.size()) return;
  if (count_ + cells > last_.capacity()) reserve_huge(last_, std::max(count_ + cells, 2 * last_.capacity()));
  last_.resize(count_ + cells);
}

// A new node in each level in which this line or an earlier coordinate differs from the line before.
void CellMaker::begin_line(std::int64_t number) {
  const auto last = shape_[outer_.size()];
  line_begin_ = number / last * last;
  line_end_ = line_begin_ + last;
  auto rest = number / last;
  for (auto d = outer_.size(); d-- > 0;) {
    coordinates_[d] = static_cast<std::uint32_t>(rest % shape_[d]);
    rest /= shape_[d];
  }
  CHECK(rest == 0, "a cell lies in its shape");
  std::size_t level = 0;
  if (count_ > 0)
    while (level < outer_.size() && coordinates_[level] == outer_[level].coordinates.back()) ++level;
  for (; level < outer_.size(); ++level) {
    const auto below = level + 1 < outer_.size() ? outer_[level + 1].coordinates.size() : count_;
    outer_[level].coordinates.push_back(coordinates_[level]);
    outer_[level].begins.push_back(static_cast<std::int64_t>(below));
  }
}

CellBlock CellMaker::take(DType type, std::vector<std::byte> values) {
  last_.resize(count_);
  for (std::size_t level = 0; level < outer_.size(); ++level) {
    const auto below = level + 1 < outer_.size() ? outer_[level + 1].coordinates.size() : count_;
    outer_[level].begins.push_back(static_cast<std::int64_t>(below));
  }
  GrowingTrie trie{natural_order(shape_.rank()), std::move(outer_), std::move(values)};
  trie.levels.push_back({std::move(last_)});
  return {type, shape_, std::move(trie).take()};
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

template <class Value>
std::vector<Value> zeros_in_huge_pages(std::size_t count) {
  std::vector<Value> values;
  reserve_huge(values, count);
  values.resize(count);
  return values;
}

// The trie of a matrix by columns: cells are counted by column, and each goes to the next place of its own.
template <class Unit>
CellTrie transposed_trie(const CellTrie& trie, std::int64_t columns) {
  const auto rows = trie.levels[0];
  const auto cells = trie.levels[1];
  const auto count = cells.coordinates.size();
  std::vector<std::int64_t> places(static_cast<std::size_t>(columns), 0);
  for (const auto column : cells.coordinates) ++places[column];
  GrowingTrie::Level outer{{}, {}};
  std::int64_t before = 0;
  for (std::size_t column = 0; column < places.size(); ++column) {
    const auto here = std::exchange(places[column], before);
    if (here == 0) continue;
    outer.coordinates.push_back(static_cast<std::uint32_t>(column));
    outer.begins.push_back(before);
    before += here;
  }
  outer.begins.push_back(before);
  auto coordinates = zeros_in_huge_pages<std::uint32_t>(count);
  auto values = zeros_in_huge_pages<std::byte>(trie.values.size());
  const auto* from = trie.values_as<Unit>();
  auto* to = reinterpret_cast<Unit*>(values.data());
  for (std::size_t row = 0; row < rows.coordinates.size(); ++row) {
    for (auto n = rows.begins[row]; n < rows.begins[row + 1]; ++n) {
      const auto place = places[cells.coordinates[static_cast<std::size_t>(n)]]++;
      coordinates[static_cast<std::size_t>(place)] = rows.coordinates[row];
      to[place] = from[n];
    }
    poll_cancellation_after(static_cast<std::size_t>(rows.begins[row + 1] - rows.begins[row]));
  }
  return {{1, 0}, {std::move(outer).take(), {std::move(coordinates)}}, std::move(values)};
}

// A trie in another order. What moves are items: the nodes of the level above the dimensions that stay last, with all
// that is below them. They are sorted by one dimension after the other, from the innermost one that is not in order yet
// to the outermost one; dimensions that stay first are one key together, the number of their node.
class TrieOrder {
 public:
  TrieOrder(const CellTrie& trie, const Shape& shape, std::span<const std::size_t> order)
      : trie_(trie), shape_(shape), order_(order), end_(order.size()) {
    while (order_[end_ - 1] == end_ - 1) --end_;
    while (order_[begin_] == begin_) ++begin_;
    sorted_ = end_ - 1;
    while (sorted_ > begin_ && order_[sorted_ - 1] < order_[sorted_]) --sorted_;
    count_ = trie.levels[end_ - 1].coordinates.size();
  }

  /// Whether there are not many more indices than items.
  bool counts() const {
    if (count_ >= std::numeric_limits<std::uint32_t>::max()) return false;
    for (auto place = begin_; place < sorted_; ++place)
      if (shape_[order_[place]] > kMostPlacesPerCell * static_cast<std::int64_t>(count_)) return false;
    return true;
  }

  template <class Unit>
  CellTrie make() {
    for (auto place = begin_; place < end_; ++place) coordinates_.push_back(coordinates_of_items(order_[place]));
    if (begin_ > 0) parents_ = nodes_of_items(begin_ - 1);
    GrowingTrie to{{order_.begin(), order_.end()}, std::vector<GrowingTrie::Level>(order_.size()), {}};
    if (end_ == order_.size()) {
      to.values.assign(trie_.values.begin(), trie_.values.end());
      sort<Unit>(to.values);
      make_moved_levels(to);
    } else {
      std::vector<std::byte> numbers(count_ * sizeof(std::uint32_t));
      auto* items = reinterpret_cast<std::uint32_t*>(numbers.data());
      std::iota(items, items + count_, std::uint32_t{0});
      sort<std::uint32_t>(numbers);
      make_moved_levels(to);
      items = reinterpret_cast<std::uint32_t*>(numbers.data());
      move_levels_below(to, {items, count_});
      to.values = zeros_in_huge_pages<std::byte>(trie_.values.size());
      const auto* from = trie_.values_as<Unit>();
      auto* values = reinterpret_cast<Unit*>(to.values.data());
      for (std::size_t n = 0; n < count_; ++n) {
        const auto [begin, last] = range_below(end_ - 1, items[n], order_.size() - 1);
        values = std::copy(from + begin, from + last, values);
      }
    }
    auto made = std::move(to).take();
    for (std::size_t level = 0; level < begin_; ++level)
      made.levels[level].coordinates = trie_.levels[level].coordinates;
    for (std::size_t level = 0; level + 1 < begin_; ++level) made.levels[level].begins = trie_.levels[level].begins;
    return made;
  }

 private:
  // Of every item, its number of the node of a level above.
  std::vector<std::uint32_t> nodes_of_items(std::size_t level) const {
    std::vector<std::uint32_t> nodes(count_);
    const auto size = trie_.levels[level].coordinates.size();
    for (std::size_t node = 0; node < size; ++node) {
      const auto [begin, last] = range_below(level, node, end_ - 1);
      std::fill(nodes.begin() + begin, nodes.begin() + last, static_cast<std::uint32_t>(node));
    }
    return nodes;
  }
  std::vector<std::uint32_t> coordinates_of_items(std::size_t level) const {
    const auto& coordinates = trie_.levels[level].coordinates;
    if (level == end_ - 1) return {coordinates.begin(), coordinates.end()};
    auto nodes = nodes_of_items(level);
    for (auto& node : nodes) node = coordinates[node];
    return nodes;
  }
  // The nodes of `to` that are below a node of `level`.
  std::pair<std::int64_t, std::int64_t> range_below(std::size_t level, std::size_t node, std::size_t to) const {
    auto begin = node;
    auto last = node + 1;
    for (; level < to; ++level) {
      begin = static_cast<std::size_t>(trie_.levels[level].begins[begin]);
      last = static_cast<std::size_t>(trie_.levels[level].begins[last]);
    }
    return {begin, last};
  }

  // Sorts what is known of all items, and what they carry.
  template <class Carried>
  void sort(std::vector<std::byte>& carried) {
    for (auto place = sorted_; place-- > begin_;)
      sort_by<Carried>(coordinates_[place - begin_], static_cast<std::size_t>(shape_[order_[place]]), carried);
    if (begin_ > 0) sort_by<Carried>(parents_, trie_.levels[begin_ - 1].coordinates.size(), carried);
  }
  // By one key, in a stable way: items are counted by key, and what belongs to them moves column by column.
  template <class Carried>
  void sort_by(const std::vector<std::uint32_t>& keys, std::size_t most, std::vector<std::byte>& carried) {
    std::vector<std::uint32_t> places(most + 1, 0);
    for (const auto key : keys) ++places[key + std::size_t{1}];
    std::partial_sum(places.begin(), places.end(), places.begin());
    std::vector<std::uint32_t> to(count_);
    for (std::size_t n = 0; n < count_; ++n) to[n] = places[keys[n]]++;
    for (auto& column : coordinates_) move_column(column, to);
    if (begin_ > 0) move_column(parents_, to);
    auto moved = zeros_in_huge_pages<std::byte>(carried.size());
    const auto* from = reinterpret_cast<const Carried*>(carried.data());
    auto* into = reinterpret_cast<Carried*>(moved.data());
    for (std::size_t n = 0; n < count_; ++n) into[to[n]] = from[n];
    carried = std::move(moved);
    poll_cancellation_after((coordinates_.size() + 2) * count_);
  }
  void move_column(std::vector<std::uint32_t>& column, const std::vector<std::uint32_t>& to) {
    spare_.resize(count_);
    for (std::size_t n = 0; n < count_; ++n) spare_[to[n]] = column[n];
    column.swap(spare_);
  }

  // A new node in each level in which this or an earlier coordinate differs from those of the item before.
  void make_moved_levels(GrowingTrie& to) {
    const auto moved = coordinates_.size();
    std::vector<std::uint32_t> before(moved);
    auto& innermost = to.levels[end_ - 1].coordinates;
    innermost.reserve(count_);
    for (std::size_t n = 0; n < count_; ++n) {
      std::size_t same = 0;
      if (begin_ > 0 && (n == 0 || parents_[n] != parents_[n - 1])) {
        to.levels[begin_ - 1].begins.push_back(size_of_level(to, begin_));
      } else if (n > 0) {
        while (same + 1 < moved && coordinates_[same][n] == before[same]) ++same;
      }
      for (; same < moved; ++same) {
        auto& level = to.levels[begin_ + same];
        before[same] = coordinates_[same][n];
        level.coordinates.push_back(before[same]);
        if (same + 1 < moved) level.begins.push_back(size_of_level(to, begin_ + same + 1));
      }
    }
    for (std::size_t level = begin_ > 0 ? begin_ - 1 : 0; level + 1 < end_; ++level)
      to.levels[level].begins.push_back(size_of_level(to, level + 1));
  }
  static std::int64_t size_of_level(const GrowingTrie& trie, std::size_t level) {
    return static_cast<std::int64_t>(trie.levels[level].coordinates.size());
  }

  void move_levels_below(GrowingTrie& to, std::span<const std::uint32_t> items) const {
    for (auto level = end_; level < order_.size(); ++level) {
      const auto& from = trie_.levels[level];
      auto& above = to.levels[level - 1].begins;
      const auto& begins = trie_.levels[level - 1].begins;
      to.levels[level].coordinates.reserve(from.coordinates.size());
      above.reserve(begins.size());
      std::int64_t sum = 0;
      for (const auto item : items) {
        const auto [node, last_node] = range_below(end_ - 1, item, level - 1);
        for (auto n = node; n < last_node; ++n) {
          above.push_back(sum);
          sum += begins[static_cast<std::size_t>(n) + 1] - begins[static_cast<std::size_t>(n)];
        }
        const auto [begin, last] = range_below(end_ - 1, item, level);
        to.levels[level].coordinates.insert(to.levels[level].coordinates.end(), from.coordinates.begin() + begin,
                                            from.coordinates.begin() + last);
      }
      above.push_back(sum);
    }
  }

  const CellTrie& trie_;
  const Shape& shape_;
  std::span<const std::size_t> order_;
  std::size_t begin_ = 0;                                // dimensions before stay first
  std::size_t end_;                                      // those from here on stay last
  std::size_t sorted_ = 0;                               // places from here to the end are in order already
  std::size_t count_ = 0;                                // of items
  std::vector<std::vector<std::uint32_t>> coordinates_;  // by place from `begin_` on, of each item
  std::vector<std::uint32_t> parents_;                   // of each item, its node among the dimensions that stay first
  std::vector<std::uint32_t> spare_;
};

}  // namespace

CellTrie CellBlock::in_order(std::vector<std::size_t> order) const {
  CHECK(order.size() == shape_.rank(), "an order is of all dimensions");
  if (order == trie_.order) return trie_;
  if (shape_.rank() == 2 && shape_[1] <= kMostPlacesPerCell * count())
    return with_unit(size_of(type_), [&](auto unit) { return transposed_trie<decltype(unit)>(trie_, shape_[1]); });
  if (TrieOrder sorted(trie_, shape_, order); count() > 0 && sorted.counts())
    return with_unit(size_of(type_), [&](auto unit) { return sorted.template make<decltype(unit)>(); });
  // Otherwise as numbers in the permuted shape, which has as many cells.
  std::vector<std::int64_t> extents;
  for (const auto dimension : order) extents.push_back(shape_[dimension]);
  std::vector<std::int64_t> strides(order.size(), 1);  // by level
  for (auto level = order.size(); level-- > 1;) strides[level - 1] = strides[level] * extents[level];
  std::vector<std::int64_t> stride_of(order.size());  // by dimension
  for (std::size_t level = 0; level < order.size(); ++level) stride_of[order[level]] = strides[level];
  auto numbers = numbers_by(trie_, stride_of);
  std::vector<std::byte> values(trie_.values.begin(), trie_.values.end());
  sort_cells(numbers, values, size_of(type_));
  auto permuted = of_numbers(type_, Shape(std::move(extents)), numbers, std::move(values)).trie_;
  permuted.order = std::move(order);
  return permuted;
}

std::vector<std::int64_t> CellBlock::numbers() const { return numbers_by(trie_, shape_.row_major_strides()); }

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

namespace {

// A node of an outer level.
constexpr std::size_t kNodeBytes = sizeof(std::uint32_t) + sizeof(std::int64_t);

}  // namespace

double bytes_of_cell(DType type, std::size_t rank) {
  return static_cast<double>(size_of(type) + (rank - 1) * kNodeBytes + sizeof(std::uint32_t));
}

double bytes_of_cells(DType type, const Shape& shape, double cells) {
  double bytes = cells * static_cast<double>(size_of(type) + sizeof(std::uint32_t));
  double places = 1;
  for (std::size_t level = 0; level + 1 < shape.rank(); ++level) {
    places *= static_cast<double>(shape[level]);
    if (places > 0) bytes -= places * std::expm1(-cells / places) * static_cast<double>(kNodeBytes);
  }
  return bytes;
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
