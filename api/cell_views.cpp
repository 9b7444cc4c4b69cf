// Cells of a program's memory: checked, and read where they lie if they are in order; copied and sorted otherwise.

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/element_types.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {
namespace {

[[noreturn]] void refuse_cells(const std::string& what, const std::string& hint = "") {
  throw Error(ErrorKind::Value, what, std::nullopt, hint);
}

template <class T>
const T* checked_pointer(const void* data, const char* what) {
  if (data == nullptr) refuse_cells(std::string("the ") + what + " of cells have a null pointer");
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0)
    refuse_cells(std::string("the ") + what + " of cells are not aligned",
                 "their address must be a multiple of " + std::to_string(alignof(T)));
  return static_cast<const T*>(data);
}

// All of them are looked at without branches, and the one that is wrong is looked for afterwards.
template <class I>
void check_indices(const I* indices, std::int64_t count, std::int64_t extent, std::size_t dimension) {
  const auto is_outside = [&](I index) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(index)) >= static_cast<std::uint64_t>(extent);
  };
  bool any_outside = false;
  for (std::int64_t n = 0; n < count; ++n) any_outside |= is_outside(indices[n]);
  if (!any_outside) return;
  const auto cell = std::find_if(indices, indices + count, is_outside) - indices;
  const auto index = static_cast<std::int64_t>(indices[cell]);
  refuse_cells("cell " + std::to_string(cell) + " has the index " + std::to_string(index) + " in dimension " +
                   std::to_string(dimension + 1) + ", which has " + std::to_string(extent) + " indices",
               "indices begin with 0");
}

TrieList<std::byte> view_of_values(const CellsView& view, std::size_t value_bytes) {
  return TrieList<std::byte>::of_program(
      {static_cast<const std::byte*>(view.values), static_cast<std::size_t>(view.count) * value_bytes});
}

std::vector<std::byte> copied_values(const CellsView& view, std::size_t value_bytes) {
  const auto values = view_of_values(view, value_bytes);
  return {values.begin(), values.end()};
}

// Coordinates of a trie are of 32 bits, so that wider indices, which have been checked, are narrowed in a copy.
template <class I>
TrieList<std::uint32_t> coordinates_of(const I* indices, std::int64_t count) {
  const auto size = static_cast<std::size_t>(count);
  if constexpr (sizeof(I) == sizeof(std::uint32_t))
    return TrieList<std::uint32_t>::of_program({reinterpret_cast<const std::uint32_t*>(indices), size});
  std::vector<std::uint32_t> narrow(size);
  for (std::size_t n = 0; n < size; ++n) narrow[n] = static_cast<std::uint32_t>(indices[n]);
  return narrow;
}

std::string text_of_key(const std::vector<std::int64_t>& key) {
  std::string text;
  for (const auto index : key) text += (text.empty() ? "(" : ", ") + std::to_string(index);
  return text + ")";
}

// Of any order, by their row-major numbers.
CellBlock block_of_numbers(DType type, const Shape& shape, std::vector<std::int64_t> numbers,
                           std::vector<std::byte> values) {
  sort_cells(numbers, values, size_of(type));
  if (const auto twice = std::adjacent_find(numbers.begin(), numbers.end()); twice != numbers.end()) {
    std::vector<std::int64_t> key;
    auto number = *twice;
    for (const auto stride : shape.row_major_strides()) {
      key.push_back(number / stride);
      number %= stride;
    }
    refuse_cells("the cell " + text_of_key(key) + " is given twice", "add up the values of cells that stand for one");
  }
  return CellBlock::of_numbers(type, shape, numbers, std::move(values));
}

// The levels of a trie but the last, of cells in the order of their indices; nullopt if they are in another order, or
// some are there twice.
template <class I>
std::optional<std::vector<GrowingTrie::Level>> outer_levels(const std::vector<const I*>& indices, std::int64_t count) {
  const auto rank = indices.size();
  std::vector<GrowingTrie::Level> levels(rank - 1);
  const auto size_of_level = [&](std::size_t level, std::int64_t cell) {
    return level + 1 < rank ? static_cast<std::int64_t>(levels[level].coordinates.size()) : cell;
  };
  for (std::int64_t n = 0; n < count; ++n) {
    std::size_t differs = 0;
    if (n > 0) {
      while (differs < rank && indices[differs][n] == indices[differs][n - 1]) ++differs;
      if (differs == rank || indices[differs][n] < indices[differs][n - 1]) return std::nullopt;
    }
    for (auto level = differs; level + 1 < rank; ++level) {
      levels[level].begins.push_back(size_of_level(level + 1, n));
      levels[level].coordinates.push_back(static_cast<std::uint32_t>(indices[level][n]));
    }
  }
  for (std::size_t level = 0; level + 1 < rank; ++level)
    levels[level].begins.push_back(size_of_level(level + 1, count));
  return levels;
}

template <class I>
CellBlock block_of_coordinates(const CellsView& view, DType type, const Shape& shape) {
  const auto rank = shape.rank();
  if (view.indices.size() != rank)
    refuse_cells("cells have " + std::to_string(view.indices.size()) + " lists of indices, but " +
                 std::to_string(rank) + " extents");
  if (view.count == 0) return CellBlock::of_numbers(type, shape, {}, {});
  std::vector<const I*> indices;
  for (std::size_t d = 0; d < rank; ++d) {
    indices.push_back(checked_pointer<I>(view.indices[d], "indices"));
    check_indices(indices.back(), view.count, shape[d], d);
  }
  if (auto levels = outer_levels(indices, view.count)) {
    CellTrie trie{std::vector<std::size_t>(rank), {}, view_of_values(view, size_of(type))};
    std::iota(trie.order.begin(), trie.order.end(), std::size_t{0});
    for (auto& level : *levels) trie.levels.push_back(std::move(level).take());
    trie.levels.push_back({coordinates_of(indices.back(), view.count)});
    return {type, shape, std::move(trie)};
  }
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(view.count), 0);
  for (std::size_t d = 0; d < rank; ++d)
    for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = numbers[n] * shape[d] + indices[d][n];
  return block_of_numbers(type, shape, std::move(numbers), copied_values(view, size_of(type)));
}

// Row r has the cells begins[r] to before begins[r + 1].
template <class I>
void check_begins(const I* begins, std::int64_t rows, std::int64_t count) {
  if (begins[0] != 0) refuse_cells("the cells of the first row of a matrix begin with 0");
  for (std::int64_t r = 0; r < rows; ++r)
    if (begins[r + 1] < begins[r]) refuse_cells("row " + std::to_string(r) + " ends before it begins");
  if (static_cast<std::int64_t>(begins[rows]) != count)
    refuse_cells("the rows of a matrix have " + std::to_string(begins[rows]) + " cells together, not " +
                 std::to_string(count));
}

// Whether columns ascend in each row, each once: wherever one does not, a row begins. There are `count` of them.
template <class I>
bool are_ascending(const I* begins, const I* columns, std::int64_t rows, std::int64_t count) {
  std::int64_t descents = 0;
  for (std::int64_t n = 1; n < count; ++n) descents += static_cast<std::int64_t>(columns[n] <= columns[n - 1]);
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto n = begins[r];
    if (n > 0 && n < begins[r + 1] && columns[n] <= columns[n - 1]) --descents;
  }
  return descents == 0;
}

template <class I>
CellBlock block_of_rows(const CellsView& view, DType type, const Shape& shape) {
  if (shape.rank() != 2 || view.indices.size() != 1) refuse_cells("cells by rows are those of a matrix");
  const auto rows = shape[0];
  const auto* begins = checked_pointer<I>(view.begins, "rows");
  check_begins(begins, rows, view.count);
  if (view.count == 0) return CellBlock::of_numbers(type, shape, {}, {});
  const auto* columns = checked_pointer<I>(view.indices[0], "columns");
  check_indices(columns, view.count, shape[1], 1);
  if (are_ascending(begins, columns, rows, view.count)) {
    GrowingTrie::Level level;
    for (std::int64_t r = 0; r < rows; ++r) {
      if (begins[r] == begins[r + 1]) continue;
      level.coordinates.push_back(static_cast<std::uint32_t>(r));
      level.begins.push_back(begins[r]);
    }
    level.begins.push_back(view.count);
    CellTrie trie{{0, 1}, {}, view_of_values(view, size_of(type))};
    trie.levels = {std::move(level).take(), {coordinates_of(columns, view.count)}};
    return {type, shape, std::move(trie)};
  }
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(view.count));
  for (std::int64_t r = 0; r < rows; ++r)
    for (auto n = begins[r]; n < begins[r + 1]; ++n) numbers.push_back(r * shape[1] + columns[n]);
  return block_of_numbers(type, shape, std::move(numbers), copied_values(view, size_of(type)));
}

}  // namespace

MemoryTensor memory_tensor(const CellsView& view) {
  const auto type = dtype(view.type);
  if (std::any_of(view.extents.begin(), view.extents.end(), [](auto extent) { return extent < 0; }))
    throw Error(ErrorKind::Shape, "a tensor has a negative extent");
  const Shape shape(view.extents);
  if (!CellBlock::may_have(shape))
    throw Error(ErrorKind::Shape, "a tensor of cells has at least one dimension, and at most 2^31 indices in each");
  checked_product(view.extents);  // cells have numbers of 63 bits
  if (view.count < 0) refuse_cells("a tensor has a negative number of cells");
  if (view.count > 0)
    dispatch(type, [&](auto t) { checked_pointer<typename decltype(t)::type>(view.values, "values"); });
  const auto block = [&] {
    if (view.begins == nullptr)
      return view.has_wide_indices ? block_of_coordinates<std::int64_t>(view, type, shape)
                                   : block_of_coordinates<std::int32_t>(view, type, shape);
    return view.has_wide_indices ? block_of_rows<std::int64_t>(view, type, shape)
                                 : block_of_rows<std::int32_t>(view, type, shape);
  };
  return {.dtype = type,
          .data = nullptr,
          .extents = view.extents,
          .strides = {},
          .labels = view.labels,
          .cells = std::make_shared<const CellBlock>(block())};
}

}  // namespace eindb
