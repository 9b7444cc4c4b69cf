#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/result.hpp"
#include "server/copy/copy_format.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// A column as a client sees it. Complex numbers are two, side by side.
struct CopyColumn {
  enum class Part : std::uint8_t { Whole, Real, Imaginary };

  std::string name;
  DataType type = DataType::Text;
  Part part = Part::Whole;
};

/// Writes rows as COPY ... TO STDOUT sends them, byte for byte as PostgreSQL does. How they are cut into messages is
/// the caller's choice, as long as begin(), every row and end() are each within one:
///
///     encoder.begin(message);            // signature or header, or nothing
///     encoder.row(message, row); ...
///     encoder.end(message);              // what binary rows end with, or nothing
///
/// Not thread-safe.
class CopyEncoder {
 public:
  /// Error{UnknownName} for a column of FORCE_QUOTE that is not there, Error{Unsupported} for more columns than a
  /// binary row can have.
  CopyEncoder(CopyFormatOptions options, std::vector<CopyColumn> columns);

  void begin(MessageWriter& out) const;
  /// `row` has a cell for each column that is not an imaginary part. In binary rows a value is of its column's type, or
  /// Error{Type} is thrown; `out` then ends with part of a row.
  void row(MessageWriter& out, const Row& row);
  void end(MessageWriter& out) const;

 private:
  void text_row(std::string& out, const Row& row);
  void binary_row(MessageWriter& out, const Row& row) const;
  void field(std::string& out, const Cell& cell, std::size_t column);
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
  std::array<bool, 256> plain_{};  // bytes that stand for themselves wherever they are
  bool plain_numbers_ = true;      // every number is made of such, and none is what stands for NULL
  std::string number_;             // one that may not be
};

}  // namespace eindb
