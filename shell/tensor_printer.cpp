#include "shell/tensor_printer.hpp"

#include <algorithm>
#include <string>

#include "shell/array_layout.hpp"
#include "shell/box_printer.hpp"
#include "shell/number_columns.hpp"

namespace eindb {
namespace {

/// The head line: "Z[i 2, j 3] FLOAT64".
std::string head_line(const TensorRelation& tensor) {
  std::string out = tensor.name + "[";
  for (std::size_t d = 0; d < tensor.labels.size(); ++d) {
    out += (d > 0 ? ", " : "") + tensor.labels[d] + " " + std::to_string(tensor.grid.shape()[d]);
  }
  return out + "] " + std::string(name_of(tensor.dtype)) + "\n";
}

/// One element; elements of absent tiles are zero.
Cell element(const TensorRelation& tensor, const std::vector<std::int64_t>& index) {
  const auto& grid = tensor.grid;
  TileKey key(index.size());
  for (std::size_t d = 0; d < index.size(); ++d) key[d] = part_of(grid.shape()[d], grid.partition()[d], index[d]);
  const auto tile = tensor.tile(grid.id_of(key));
  const auto begin = grid.tile_begin(key);
  const auto strides = grid.tile_shape(key).row_major_strides();
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += (index[d] - begin[d]) * strides[d];
  return dispatch(tensor.dtype, [&]<class T>(std::type_identity<T>) -> Cell {
    return tile ? tile->template data<T>()[offset] : T{};
  });
}

}  // namespace

void TensorPrinter::print(Result& result, Output& output) {
  if (!result.tensor) return BoxPrinter(options_).print(result, output);
  const auto& tensor = *result.tensor;
  const ArrayLayout layout(tensor.grid.shape());
  std::vector<Cell> cells;
  layout.for_each_shown([&](const std::vector<std::int64_t>& index) { cells.push_back(element(tensor, index)); });
  if (options_.headers) output.write(head_line(tensor));
  output.write(layout.arrange(align_numbers(cells)));
}

}  // namespace eindb
