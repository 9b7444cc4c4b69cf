#include "shell/delimited_printer.hpp"

#include "engine/results/cell_text.hpp"

namespace eindb {

void DelimitedPrinter::print(Result& result, Output& output) {
  if (headers_) output.write(header(result.columns));
  std::string line;
  for (Row row; result.rows->next(row);) {
    line.clear();
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (n > 0) line += delimiters_.separator;
      if (const auto* text = std::get_if<std::string>(&row[n])) append(line, *text);
      else append_cell_text(line, row[n], null_text_);
    }
    line += '\n';
    output.write(line);
  }
}

std::string DelimitedPrinter::header(const std::vector<Column>& columns) const {
  std::string line;
  for (const auto& column : columns) {
    if (&column != columns.data()) line += delimiters_.separator;
    append(line, column.name);
  }
  return line + '\n';
}

void DelimitedPrinter::append(std::string& line, const std::string& text) const {
  const bool plain =
      !text.empty() && text.find_first_of("\"\r\n,") == std::string::npos && text.front() != ' ' && text.back() != ' ';
  if (plain || !delimiters_.quoted) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

}  // namespace eindb
