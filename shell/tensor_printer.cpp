#include "shell/tensor_printer.hpp"

#include <string>

#include "shell/array_layout.hpp"
#include "shell/box_printer.hpp"
#include "shell/number_columns.hpp"
#include "shell/tensor_element.hpp"

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

}  // namespace

void TensorPrinter::print(Result& result, Output& output) {
  if (!result.tensor) return BoxPrinter(options_).print(result, output);
  const auto& tensor = *result.tensor;
  const ArrayLayout layout(tensor.grid.shape());
  std::vector<Cell> cells;
  layout.for_each_shown(
      [&](const std::vector<std::int64_t>& index) { cells.push_back(tensor_element(tensor, index)); });
  if (options_.headers) output.write(head_line(tensor));
  output.write(layout.arrange(align_numbers(cells)));
}

}  // namespace eindb
