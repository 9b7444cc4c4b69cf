#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/copy_format.hpp"
#include "engine/results/result.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// A column as the client sees it. A complex number takes two adjacent columns.
struct CopyColumn {
  enum class Part : std::uint8_t { Whole, Real, Imaginary };

  std::string name;
  DataType type = DataType::Text;
  Part part = Part::Whole;
  std::int32_t modifier = -1;
};

/// Encodes rows for COPY ... TO STDOUT, byte for byte like PostgreSQL. The caller divides them into messages, but the
/// output of begin(), of each row and of end() must not be split:
///
///     encoder.begin(message);            // signature or header, or nothing
///     encoder.row(message, row); ...
///     encoder.end(message);              // trailer of binary rows, or nothing
///
/// Not thread-safe.
class CopyEncoder {
 public:
  /// Error{UnknownName} for an unknown column in FORCE_QUOTE, Error{Unsupported} for more columns than a binary row can
  /// have.
  CopyEncoder(CopyFormatOptions options, std::vector<CopyColumn> columns);

  void begin(MessageWriter& out) const;
  /// `row` has one cell for each column that is not an imaginary part. For binary rows throws Error{Type} unless each
  /// value has its column's type; `out` then ends with an incomplete row.
  void row(MessageWriter& out, const Row& row);
  void end(MessageWriter& out) const;

 private:
  void text_row(std::string& out, const Row& row);
  void binary_row(MessageWriter& out, const Row& row) const;
  void field(std::string& out, const Cell& cell, std::size_t column);
  void padded(std::string& out, const Cell& cell, std::size_t column);
  void number(std::string& out, const Cell& cell, std::size_t column);
  void bytes(std::string& out, const Cell& cell, std::size_t column);
  void text(std::string& out, std::string_view value, bool force_quote) const;
  void escaped(std::string& out, std::string_view value) const;
  void quoted(std::string& out, std::string_view value) const;
  bool needs_quotes(std::string_view value) const;
  bool is_plain(char c) const { return plain_[static_cast<unsigned char>(c)]; }

  CopyFormatOptions options_;
  std::vector<CopyColumn> columns_;
  std::vector<bool> force_quote_;
  std::array<bool, 256> plain_{};  // bytes that never need quotes or escapes
  bool plain_numbers_ = true;      // no number needs quotes or escapes, and none equals the text for NULL
  std::string number_;             // buffer for a number that may need quotes or escapes
};

}  // namespace eindb
