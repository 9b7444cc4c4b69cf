#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/input_file.hpp"

namespace eindb {

/// One field of a CSV file; `text` has no quotes and is valid until the next field.
struct CsvField {
  std::string_view text;
  std::int64_t line = 1;    ///< line of the file on which the field begins, from 1
  std::int64_t column = 1;  ///< number of the field in its row, from 1
  bool quoted = false;
  bool ends_row = false;

  /// Whether the row is an empty line.
  bool is_blank_line() const { return column == 1 && ends_row && !quoted && text.empty(); }
};

/// Splits a CSV file (RFC 4180) into fields, front to back, in bounded memory. Lines end in LF, CR LF or CR; a byte
/// order mark is skipped; in a quoted field a doubled quote stands for a quote. The file must outlive it.
class CsvScanner {
 public:
  CsvScanner(const InputFile& file, char delimiter);

  /// False at the end of the file. Error{Corrupt} for an unterminated quote and for a field of more than 1 MiB.
  bool next(CsvField& field);

 private:
  bool fill();
  bool at_end() { return begin_ == end_ && !fill(); }
  void skip_byte_order_mark();
  void scan_plain(CsvField& field);
  void scan_quoted(CsvField& field);
  void end_field(CsvField& field);
  [[noreturn]] void fail(std::int64_t line, const std::string& what) const;

  const InputFile& file_;
  char delimiter_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // not scanned yet: [begin_, end_) of the buffer
  std::size_t end_ = 0;
  std::int64_t file_offset_ = 0;
  std::string unquoted_;
  std::int64_t line_ = 1;
  std::int64_t column_ = 1;
  bool in_row_ = false;          // after a delimiter another field follows, even if empty
  bool skip_line_feed_ = false;  // the last field ended in CR
};

}  // namespace eindb
