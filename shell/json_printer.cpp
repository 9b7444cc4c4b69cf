#include "shell/json_printer.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "engine/results/cell_text.hpp"

namespace eindb {
namespace {

std::string json_quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class Float>
void append_float(std::string& out, Float value) {
  if (std::isnan(value)) out += "\"NaN\"";
  else if (std::isinf(value)) out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  else append_cell_text(out, value);
}

void append_value(std::string& out, const Cell& cell) {
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          out += json_quoted(value);
        } else if constexpr (std::is_same_v<T, std::vector<std::byte>>) {
          out += json_quoted(cell_text(cell));
        } else if constexpr (std::is_floating_point_v<T>) {
          append_float(out, value);
        } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
          out += '[';
          append_float(out, value.real());
          out += ',';
          append_float(out, value.imag());
          out += ']';
        } else {
          append_cell_text(out, value, "null");
        }
      },
      cell);
}

}  // namespace

void JsonPrinter::print(Result& result, Output& output) {
  std::vector<std::string> keys;  // `"i":`, quoted once
  for (const auto& column : result.columns) keys.push_back(json_quoted(column.name) + ":");
  const bool array = layout_ == Layout::Array;
  std::string text = array ? "[" : "";
  bool first = true;
  for (Row row; result.rows->next(row); first = false) {
    if (!first) text += array ? ",\n" : "\n";
    for (std::size_t n = 0; n < row.size(); ++n) {
      text += n == 0 ? '{' : ',';
      text += keys[n];
      append_value(text, row[n]);
    }
    text += '}';
    output.write(text);
    text.clear();
  }
  if (array) text += "]\n";
  else if (!first) text += '\n';
  output.write(text);
}

}  // namespace eindb
