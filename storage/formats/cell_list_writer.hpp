#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "storage/files/output_file.hpp"
#include "tensor/dtype.hpp"
#include "tensor/index_names.hpp"
#include "tensor/number_text.hpp"

namespace eindb {

/// The style of a written list of cells.
struct CellListStyle {
  char delimiter = ',';
  std::int64_t base = 0;
  bool complex_as_two = false;  ///< 1.5 -2.0 instead of 1.5-2.0j
  std::string head;             ///< text before the first cell, line ends included
  DimensionNames names = {};    ///< in the place of indices
};

/// "i,j,val" and a line end; names are quoted as in RFC 4180.
std::string csv_header(const std::vector<std::string>& names, char delimiter);
/// The header of a Matrix Market file of `type`: coordinate, general.
std::string matrix_market_head(DType type, std::int64_t rows, std::int64_t columns, std::int64_t entries);
/// Appends a field as in RFC 4180, in quotes if necessary.
void append_csv_field(std::string& out, std::string_view text, char delimiter);

/// Writes cells, one per line: key..., value. The file appears with commit(); a pipe or a device receives the text
/// immediately. Not thread-safe.
class CellListWriter {
 public:
  CellListWriter(const FilePath& path, CellListStyle style);

  template <class T>
  void add(std::span<const std::int64_t> key, const T& value) {
    for (std::size_t d = 0; d < key.size(); ++d) {
      if (const auto names = style_.names.at(d)) append_csv_field(buffer_, names->name(key[d]), style_.delimiter);
      else append_number(buffer_, key[d] + style_.base);
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
