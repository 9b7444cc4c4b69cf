#include "shell/line_printer.hpp"

#include <algorithm>

#include "engine/results/cell_text.hpp"
#include "shell/text_width.hpp"

namespace eindb {

void LinePrinter::print(Result& result, Output& output) {
  std::vector<std::string> names;
  std::size_t width = 0;
  for (const auto& column : result.columns) {
    names.push_back(printable(column.name));
    width = std::max(width, display_width(names.back()));
  }
  bool first = true;
  for (Row row; result.rows->next(row); first = false) {
    std::string text = first ? "" : "\n";
    for (std::size_t n = 0; n < row.size(); ++n) {
      text += padded_left(names[n], width) + " = " + cell_text(row[n], null_text_) + "\n";
    }
    output.write(text);
  }
}

}  // namespace eindb
