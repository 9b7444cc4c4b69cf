#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "server/copy/copy_buffer.hpp"
#include "server/copy/copy_format.hpp"

namespace eindb {

/// Cuts what a client sends as text or CSV into rows, which in CSV may be more than one line. The first line says
/// whether lines end with LF, CR LF or CR, and no other end may come after it. `\.` ends the rows, in text wherever it
/// stands and in CSV alone in its line; what comes after it is passed over.
///
/// Bytes may be cut anywhere, and each is looked at about once, however they come. Not thread-safe.
class CopyLineReader {
 public:
  /// Rows have at most `most_bytes`.
  CopyLineReader(const CopyFormatOptions& options, std::size_t most_bytes);

  void append(std::string_view bytes);
  void finish() { buffer_.finish(); }

  /// The next row, valid UTF-8, without the end of its line; nothing if it has not come whole, or no more come. Valid
  /// until append() or next(). Throws Error{Corrupt} for what cannot stand where it stands, Error{Value} for a row that
  /// is too long and for bytes that are no UTF-8.
  std::optional<std::string_view> next();

  /// No row comes any more: after next() gave none.
  bool ended() const { return ended_; }

  /// Where the row that next() gave, or stopped in, ends as far as it has come; the first line is 1.
  std::int64_t line() const { return line_; }

 private:
  enum class LineEnd : std::uint8_t { Unknown, Lf, CrLf, Cr };
  enum class Step : std::uint8_t {
    GoOn,       ///< behind what has been looked at
    NeedsMore,  ///< what stands there depends on bytes that have not come
    Row,        ///< row_ and taken_ say how long it is
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
  char here() const { return buffer_.rest()[at_]; }

  CopyBuffer buffer_;
  bool csv_;
  char quote_;
  char escape_;
  std::size_t most_bytes_;
  std::array<bool, 256> special_{};  // bytes that have to be looked at

  // All offsets are from where the row begins.
  std::size_t at_ = 0;     // what has not been looked at
  std::size_t row_ = 0;    // the row's length
  std::size_t taken_ = 0;  // with the end of its line
  std::int64_t line_ = 1;
  LineEnd line_end_ = LineEnd::Unknown;
  bool in_quotes_ = false;
  bool after_escape_ = false;
  bool ended_ = false;
};

}  // namespace eindb
