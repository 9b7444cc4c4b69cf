#include "shell/result_printer.hpp"

#include <algorithm>
#include <iterator>

#include "shell/box_printer.hpp"
#include "shell/delimited_printer.hpp"
#include "shell/json_printer.hpp"
#include "shell/line_printer.hpp"
#include "shell/markdown_printer.hpp"
#include "shell/tensor_printer.hpp"

namespace eindb {

const std::vector<std::string_view>& print_mode_names() {
  // In the order of the enumeration.
  static const std::vector<std::string_view> names = {"box",       "list",     "csv",  "json",
                                                      "jsonlines", "markdown", "line", "tensor"};
  return names;
}

std::optional<PrintMode> parse_print_mode(std::string_view name) {
  const auto& names = print_mode_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<PrintMode>(std::distance(names.begin(), found));
}

std::string print_mode_list() {
  std::string list;
  for (const auto name : print_mode_names()) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

std::string_view name_of(PrintMode mode) { return print_mode_names()[static_cast<std::size_t>(mode)]; }

std::unique_ptr<ResultPrinter> make_result_printer(PrintMode mode, const PrintOptions& options) {
  const auto null_text = options.null_text.value_or("");
  switch (mode) {
    case PrintMode::Box: return std::make_unique<BoxPrinter>(options);
    case PrintMode::List: return std::make_unique<DelimitedPrinter>(Delimiters::list(), options.headers, null_text);
    case PrintMode::Csv: return std::make_unique<DelimitedPrinter>(Delimiters::csv(), options.headers, null_text);
    case PrintMode::Json: return std::make_unique<JsonPrinter>(JsonPrinter::Layout::Array);
    case PrintMode::JsonLines: return std::make_unique<JsonPrinter>(JsonPrinter::Layout::Lines);
    case PrintMode::Markdown: return std::make_unique<MarkdownPrinter>(null_text);
    case PrintMode::Line: return std::make_unique<LinePrinter>(null_text);
    case PrintMode::Tensor: break;
  }
  return std::make_unique<TensorPrinter>(options);
}

}  // namespace eindb
