#include "shell/markdown_printer.hpp"

#include "engine/results/cell_text.hpp"

namespace eindb {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += "\\|";
    else if (c == '\n') out += "<br>";
    else out += c;
  }
  return out;
}

bool aligns_right(ColumnType type) { return type < ColumnType::Text || type == ColumnType::Boolean; }

}  // namespace

void MarkdownPrinter::print(Result& result, Output& output) {
  std::string head = "|";
  std::string rule = "|";
  for (const auto& column : result.columns) {
    head += " " + escaped(column.name) + " |";
    rule += aligns_right(column.type) ? "---:|" : "---|";
  }
  output.write(head + "\n" + rule + "\n");
  for (Row row; result.rows->next(row);) {
    std::string line = "|";
    for (const auto& cell : row) line += " " + escaped(cell_text(cell, null_text_)) + " |";
    output.write(line + "\n");
  }
}

}  // namespace eindb
