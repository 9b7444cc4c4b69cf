#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/result.hpp"
#include "shell/output.hpp"

namespace eindb {

enum class PrintMode : std::uint8_t { Box, List, Csv, Json, JsonLines, Markdown, Line, Tensor };

/// The names "box", "list", ... in the order of .help.
const std::vector<std::string_view>& print_mode_names();
/// The same, separated by commas, for messages.
std::string print_mode_list();
std::optional<PrintMode> parse_print_mode(std::string_view name);
std::string_view name_of(PrintMode mode);

struct PrintOptions {
  bool headers = true;
  /// A box shows the first and the last rows of a longer result, this many in all; 0: every row.
  std::size_t max_rows = 0;
  /// The width that a box keeps to; 0: any.
  std::size_t max_width = 0;
  /// The most that the columns of a box are wide; 0, and further columns: any.
  std::vector<std::size_t> widths = {};
  /// How NULL is shown; nullopt: as is usual in the mode. JSON has its own.
  std::optional<std::string> null_text = {};
};

/// Prints one result that has columns. Rows are read one at a time and not kept, unless a class states otherwise.
class ResultPrinter {
 public:
  virtual ~ResultPrinter() = default;
  virtual void print(Result& result, Output& output) = 0;
};

std::unique_ptr<ResultPrinter> make_result_printer(PrintMode mode, const PrintOptions& options);

}  // namespace eindb
