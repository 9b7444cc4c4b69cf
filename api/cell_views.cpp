// Cells of a program's memory: checked, ordered, and copied into a block of the engine.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

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

template <class I>
std::int64_t checked_index(const I* indices, std::int64_t cell, std::int64_t extent, std::size_t dimension) {
  const auto index = static_cast<std::int64_t>(indices[cell]);
  if (index < 0 || index >= extent)
    refuse_cells("cell " + std::to_string(cell) + " has the index " + std::to_string(index) + " in dimension " +
                     std::to_string(dimension + 1) + ", which has " + std::to_string(extent) + " indices",
                 "indices begin with 0");
  return index;
}

std::vector<std::byte> values_of_cells(const CellsView& view, std::size_t value_bytes) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(view.count) * value_bytes);
  if (!bytes.empty()) std::memcpy(bytes.data(), view.values, bytes.size());
  return bytes;
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

template <class I>
CellBlock block_of_coordinates(const CellsView& view, DType type, const Shape& shape) {
  if (view.indices.size() != shape.rank())
    refuse_cells("cells have " + std::to_string(view.indices.size()) + " lists of indices, but " +
                 std::to_string(shape.rank()) + " extents");
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(view.count), 0);
  for (std::size_t d = 0; d < shape.rank() && view.count > 0; ++d) {
    const auto* indices = checked_pointer<I>(view.indices[d], "indices");
    for (std::int64_t n = 0; n < view.count; ++n) {
      auto& number = numbers[static_cast<std::size_t>(n)];
      number = number * shape[d] + checked_index(indices, n, shape[d], d);
    }
  }
  return block_of_numbers(type, shape, std::move(numbers), values_of_cells(view, size_of(type)));
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

// Whether columns ascend in each row, each once.
template <class I>
bool are_ascending(const I* begins, const I* columns, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (auto n = begins[r] + 1; n < begins[r + 1]; ++n)
      if (columns[n] <= columns[n - 1]) return false;
  return true;
}

template <class I>
CellBlock block_of_rows(const CellsView& view, DType type, const Shape& shape) {
  if (shape.rank() != 2 || view.indices.size() != 1) refuse_cells("cells by rows are those of a matrix");
  const auto rows = shape[0];
  const auto* begins = checked_pointer<I>(view.begins, "rows");
  check_begins(begins, rows, view.count);
  if (view.count == 0) return CellBlock::of_numbers(type, shape, {}, {});
  const auto* columns = checked_pointer<I>(view.indices[0], "columns");
  for (std::int64_t n = 0; n < view.count; ++n) checked_index(columns, n, shape[1], 1);
  auto values = values_of_cells(view, size_of(type));
  if (are_ascending(begins, columns, rows)) {
    CellTrie trie{{0, 1}, std::vector<CellTrie::Level>(2), std::move(values)};
    for (std::int64_t r = 0; r < rows; ++r) {
      if (begins[r] == begins[r + 1]) continue;
      trie.levels[0].coordinates.push_back(static_cast<std::uint32_t>(r));
      trie.levels[0].begins.push_back(begins[r]);
    }
    trie.levels[0].begins.push_back(view.count);
    trie.levels[1].coordinates.assign(columns, columns + view.count);
    return {type, shape, std::move(trie)};
  }
  std::vector<std::int64_t> numbers;
  numbers.reserve(static_cast<std::size_t>(view.count));
  for (std::int64_t r = 0; r < rows; ++r)
    for (auto n = begins[r]; n < begins[r + 1]; ++n) numbers.push_back(r * shape[1] + columns[n]);
  return block_of_numbers(type, shape, std::move(numbers), std::move(values));
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
