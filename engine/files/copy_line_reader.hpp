#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/check.hpp"
#include "engine/files/copy_buffer.hpp"
#include "engine/files/copy_format.hpp"

namespace eindb {

/// Divides text or CSV into rows. A CSV row may have several lines. The first line determines whether lines
/// end with LF, CR LF or CR; any other line end is an error. `\.` ends the rows, in text anywhere and in CSV alone in
/// its line; further input is ignored.
///
/// Input may be divided anywhere; each byte is examined about once. Not thread-safe.
class CopyLineReader {
 public:
  /// Rows have at most `most_bytes` bytes, and pass `check`.
  CopyLineReader(const CopyFormatOptions& options, std::size_t most_bytes, CheckText check);

  void append(std::string_view bytes);
  void finish() { buffer_.finish(); }

  /// The next row without its line end; nullopt if it is not complete yet, or if there are no more
  /// rows. Valid until append() or next(). Throws Error{Corrupt} for misplaced line ends and markers, Error{Value} for
  /// rows that are too long, and the errors of `check`.
  std::optional<std::string_view> next();

  /// Whether no more rows follow, after next() returned nullopt.
  bool ended() const { return ended_; }

  /// The number of the last line of the row that next() returned or stopped in, counted from 1.
  std::int64_t line() const { return line_; }

 private:
  enum class LineEnd : std::uint8_t { Unknown, Lf, CrLf, Cr };
  enum class Step : std::uint8_t {
    GoOn,       ///< continue after the examined bytes
    NeedsMore,  ///< the decision depends on bytes not received yet
    Row,        ///< row_ and taken_ have its length
  };
  enum class Marker : std::uint8_t { NeedsMore, Absent, Present, OtherLineEnd };

  void begin_row();
  void skip_plain();
  Step look();
  Step look_text();
  Step look_csv();
  Step at_newline();
  Step at_return();
  Step at_backslash();
  Marker marker() const;
  Step take(std::size_t row, std::size_t end);
  Step end_at_marker();
  Step end_at_end();
  void check_length(std::size_t bytes) const;
  std::string_view checked_row() const;

  std::optional<char> peek(std::size_t offset) const;
  bool waits_for(std::size_t offset) const { return offset >= buffer_.rest().size() && !buffer_.finished(); }
  char here() const {
    DCHECK(at_ < buffer_.rest().size(), "the byte that is looked at has come");
    return buffer_.rest()[at_];
  }

  CopyBuffer buffer_;
  CheckText check_;
  bool csv_;
  bool end_marker_;
  char quote_;
  char escape_;
  std::size_t most_bytes_;
  std::array<bool, 256> special_{};  // bytes that need a closer look

  // All offsets are relative to the row's beginning.
  std::size_t at_ = 0;     // the first byte not examined
  std::size_t row_ = 0;    // length of the row
  std::size_t taken_ = 0;  // length with its line end
  std::int64_t line_ = 1;
  LineEnd line_end_ = LineEnd::Unknown;
  bool in_quotes_ = false;
  bool after_escape_ = false;
  bool ended_ = false;
};

}  // namespace eindb
