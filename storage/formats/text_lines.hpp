#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/input_file.hpp"

namespace eindb {

/// The lines of a text file, front to back, in bounded memory. Lines end in LF or CR LF; a byte order mark is skipped.
/// The file must outlive it. Not thread-safe.
class TextLines {
 public:
  explicit TextLines(const InputFile& file);

  /// The next line without its end, valid until the next call; false at the end of the file.
  /// Error{Corrupt} for a line of more than 64 KiB.
  bool next(std::string_view& line);
  /// Number of the line that next() gave, from 1.
  std::int64_t number() const { return number_; }
  /// Bytes of the file that were read.
  std::int64_t bytes_read() const { return file_offset_; }
  /// Goes on with the first line again.
  void rewind();

  /// "x.csv, line 7".
  std::string place(std::int64_t line) const;
  std::string place() const { return place(number_); }

 private:
  bool fill();

  const InputFile& file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // what was not given yet: [begin_, end_) of the buffer
  std::size_t end_ = 0;
  std::int64_t file_offset_ = 0;
  std::int64_t number_ = 0;
};

/// The text in quotes for a message, cut to 40 bytes, with control characters and what is no ASCII as '?'.
std::string shown_text(std::string_view text);

}  // namespace eindb
