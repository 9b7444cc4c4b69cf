#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "storage/files/output_file.hpp"
#include "tensor/dtype.hpp"
#include "tensor/number_text.hpp"

namespace eindb {

/// How a list of cells is written.
struct CellListStyle {
  char delimiter = ',';
  std::int64_t base = 0;
  bool complex_as_two = false;  ///< 1.5 -2.0 rather than 1.5-2.0j
  std::string head;             ///< what stands before the first cell, with its line ends
};

/// "i,j,val" and a line end: names as RFC 4180 quotes them.
std::string csv_header(const std::vector<std::string>& names, char delimiter);
/// The head of a Matrix Market file of `type`: coordinate, general.
std::string matrix_market_head(DType type, std::int64_t rows, std::int64_t columns, std::int64_t entries);
/// Appends a field as RFC 4180 has it: in quotes if it must be.
void append_csv_field(std::string& out, std::string_view text, char delimiter);

/// Writes cells, a line each: key..., value. The file appears with commit(); a pipe or a device gets the text as it
/// comes. Not thread-safe.
class CellListWriter {
 public:
  CellListWriter(const FilePath& path, CellListStyle style);

  template <class T>
  void add(std::span<const std::int64_t> key, const T& value) {
    for (const auto index : key) {
      append_number(buffer_, index + style_.base);
      buffer_ += style_.delimiter;
    }
    append_value(value);
    buffer_ += '\n';
    if (buffer_.size() >= kFlushBytes) flush();
  }
  void commit();

 private:
  static constexpr std::size_t kFlushBytes = 1 << 20;

  template <class T>
  void append_value(const T& value) {
    if constexpr (!std::is_arithmetic_v<T>) {
      if (style_.complex_as_two) {
        append_number(buffer_, value.real());
        buffer_ += style_.delimiter;
        append_number(buffer_, value.imag());
        return;
      }
    }
    append_number(buffer_, value);
  }
  void flush();

  OutputFile file_;
  CellListStyle style_;
  std::string buffer_;
};

}  // namespace eindb
