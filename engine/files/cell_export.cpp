#include "engine/files/cell_export.hpp"

#include <span>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/files/scratch_file.hpp"
#include "storage/formats/cell_list_writer.hpp"
#include "storage/formats/scipy_writer.hpp"
#include "tensor/nonzero_cells.hpp"

namespace eindb {
namespace {

/// A cell by its number in row-major order over the whole tensor.
template <class T>
struct NumberedCell {
  std::int64_t number = 0;
  T value{};
  friend bool operator<(const NumberedCell& a, const NumberedCell& b) { return a.number < b.number; }
};

TilePtr tile_of(const TileProvider& tensor, std::int64_t tile_id) {
  return tensor.tile_or_cells ? tensor.tile_or_cells(tile_id) : tensor.tile(tile_id);
}

/// Calls visit(number, value) for each nonzero cell of a tile.
template <class T, class Visit>
void visit_cells(const Tile& tile, const TileGrid& grid, std::int64_t tile_id, Visit&& visit) {
  const auto key = grid.key_of(tile_id);
  CHECK(tile.shape() == grid.tile_shape(key), "a tile has the shape of its place in the grid");
  const auto begin = grid.tile_begin(key);
  const auto strides = grid.shape().row_major_strides();
  for_each_nonzero_cell<T>(tile, [&](std::span<const std::int64_t> at, const T& value) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < at.size(); ++d) number += (begin[d] + at[d]) * strides[d];
    visit(number, value);
  });
}

template <class T>
std::int64_t count_cells(const TileProvider& tensor) {
  std::int64_t count = 0;
  for (auto id = tensor.next_tile(0); id; id = tensor.next_tile(*id + 1))
    if (const auto tile = tile_of(tensor, *id))
      visit_cells<T>(*tile, tensor.grid, *id, [&](std::int64_t, const T&) { ++count; });
  return count;
}

std::vector<std::int64_t> cell_key(std::int64_t number, const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> key(strides.size());
  for (std::size_t d = 0; d < key.size(); ++d) {
    DCHECK(strides[d] > 0, "a cell is one of a tensor that has some");
    key[d] = number / strides[d];
    number %= strides[d];
  }
  return key;
}

/// Calls write(key, value) for each nonzero cell in row-major order.
template <class T, class Write>
void write_cells(const TileProvider& tensor, bool as_column, ExternalSorter<NumberedCell<T>>& sorter, Write&& write) {
  const auto strides = tensor.grid.shape().row_major_strides();
  const auto band = tensor.grid.rank() == 0 ? 1 : tensor.grid.tile_count() / tensor.grid.partition()[0];
  CHECK(band > 0, "a part of the first dimension has a tile");
  for (auto id = tensor.next_tile(0); id;) {
    const auto end = (*id / band + 1) * band;
    for (; id && *id < end; id = tensor.next_tile(*id + 1))
      if (const auto tile = tile_of(tensor, *id))
        visit_cells<T>(*tile, tensor.grid, *id, [&](std::int64_t number, const T& v) { sorter.add({number, v}); });
    sorter.finish();
    for (NumberedCell<T> cell; sorter.next(cell);) {
      auto key = cell_key(cell.number, strides);
      if (as_column) key.push_back(0);
      write(key, cell.value);
    }
    sorter.clear();
  }
}

bool is_of_matrix(FileFormat format) { return format == FileFormat::Mtx || format == FileFormat::Scipy; }

void check_holds(const CopyOptions& options, const TileProvider& tensor) {
  const auto rank = tensor.grid.rank();
  if (options.format == FileFormat::Tns && is_complex(tensor.dtype)) {
    throw Error(ErrorKind::Unsupported, "tns holds real numbers, not " + std::string(name_of(tensor.dtype)),
                std::nullopt, "write it as mtx or as a list in csv");
  }
  if (is_of_matrix(options.format) && rank != 1 && rank != 2) {
    throw Error(ErrorKind::Unsupported,
                std::string(options.format == FileFormat::Mtx ? "mtx" : "scipy") + " holds a matrix, not " +
                    std::to_string(rank) + " dimensions",
                std::nullopt, "write it as tns or as a list in csv");
  }
}

template <class T>
CellListStyle style_of(const CopyOptions& options, const TileProvider& tensor) {
  CellListStyle style{.delimiter = ' ', .base = 1, .complex_as_two = true, .head = "", .names = {}};
  if (options.format == FileFormat::Mtx) {
    const auto& shape = tensor.grid.shape();
    style.head = matrix_market_head(tensor.dtype, shape[0], shape.rank() == 2 ? shape[1] : 1, count_cells<T>(tensor));
  } else if (options.format != FileFormat::Tns) {
    style = {.delimiter = options.csv.delimiter,
             .base = options.cells.base,
             .complex_as_two = false,
             .head = "",
             .names = tensor.names};
    auto names = tensor.labels;
    names.emplace_back("val");
    if (options.csv.header != CsvHeader::Absent) style.head = csv_header(names, options.csv.delimiter);
  }
  return style;
}

template <class T>
void export_list(const FilePath& path, const CopyOptions& options, const TileProvider& tensor, bool as_column,
                 ExternalSorter<NumberedCell<T>>& sorter) {
  CellListWriter writer(path, style_of<T>(options, tensor));
  write_cells<T>(tensor, as_column, sorter, [&](const auto& key, const T& value) { writer.add(key, value); });
  writer.commit();
}

template <class T>
void export_scipy(const FilePath& path, const CopyOptions& options, const TileProvider& tensor, bool as_column,
                  ExternalSorter<NumberedCell<T>>& sorter, const Cancellation& cancellation) {
  const auto& shape = tensor.grid.shape();
  ScipyWriter writer(
      path,
      {.type = tensor.type(), .rows = shape[0], .columns = as_column ? 1 : shape[1], .entries = count_cells<T>(tensor)},
      options.array.compression, options.array.overwrite, cancellation);
  write_cells<T>(tensor, as_column, sorter,
                 [&](const auto& key, const T& value) { writer.add(key[0], key[1], value); });
  writer.commit();
}

}  // namespace

void export_cells(const FilePath& path, const CopyOptions& options, const TileProvider& tensor, std::int64_t memory,
                  const Cancellation& cancellation) {
  check_holds(options, tensor);
  dispatch(tensor.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    ExternalSorter<NumberedCell<T>> sorter(memory, temporary_directory(), cancellation);
    const bool as_column = is_of_matrix(options.format) && tensor.grid.rank() == 1;
    if (options.format != FileFormat::Scipy) return export_list<T>(path, options, tensor, as_column, sorter);
    export_scipy<T>(path, options, tensor, as_column, sorter, cancellation);
  });
}

}  // namespace eindb
