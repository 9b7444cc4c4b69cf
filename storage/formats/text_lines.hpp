#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/input_file.hpp"

namespace eindb {

/// Whether the character separates words within a line.
inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// The lines of a text file, front to back, in bounded memory. Lines end in LF or CR LF; a byte order mark is skipped.
/// The file must outlive it. Not thread-safe.
class TextLines {
 public:
  explicit TextLines(const InputFile& file);

  /// The next line without its end, valid until the next call; false at the end of the file.
  /// Error{Corrupt} for a line of more than 64 KiB.
  bool next(std::string_view& line);
  /// The number of the line that next() returned last, from 1.
  std::int64_t number() const { return number_; }
  /// Bytes read of the file.
  std::int64_t bytes_read() const { return file_offset_; }
  /// Starts again with the first line.
  void rewind();

  /// A place for messages: "x.csv, line 7".
  std::string place(std::int64_t line) const;
  std::string place() const { return place(number_); }

 private:
  bool fill();

  const InputFile& file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // not returned yet: [begin_, end_) of the buffer
  std::size_t end_ = 0;
  std::int64_t file_offset_ = 0;
  std::int64_t number_ = 0;
};

/// The text in quotes for a message, cut to 40 bytes, with control and non-ASCII characters as '?'.
std::string shown_text(std::string_view text);

}  // namespace eindb
