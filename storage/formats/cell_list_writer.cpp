#include "storage/formats/cell_list_writer.hpp"

namespace eindb {

void append_csv_field(std::string& out, std::string_view text, char delimiter) {
  const bool plain =
      text.find_first_of("\"\r\n") == std::string_view::npos && text.find(delimiter) == std::string_view::npos;
  if (plain) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::string csv_header(const std::vector<std::string>& names, char delimiter) {
  std::string out;
  for (const auto& name : names) {
    append_csv_field(out, name, delimiter);
    out += delimiter;
  }
  if (!out.empty()) out.back() = '\n';
  return out;
}

std::string matrix_market_head(DType type, std::int64_t rows, std::int64_t columns, std::int64_t entries) {
  const char* real = type == DType::Int64 ? "integer" : "real";
  return std::string("%%MatrixMarket matrix coordinate ") + (is_complex(type) ? "complex" : real) + " general\n" +
         std::to_string(rows) + " " + std::to_string(columns) + " " + std::to_string(entries) + "\n";
}

CellListWriter::CellListWriter(const FilePath& path, CellListStyle style)
    : file_(path), style_(std::move(style)), buffer_(style_.head) {}

void CellListWriter::flush() {
  file_.append(std::as_bytes(std::span(buffer_)));
  buffer_.clear();
}

void CellListWriter::commit() {
  flush();
  file_.commit();
}

}  // namespace eindb
