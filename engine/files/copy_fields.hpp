#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/files/copy_format.hpp"

namespace eindb {

/// The value of a field; nullopt for NULL.
using CopyField = std::optional<std::string_view>;

/// Splits a row of text or CSV into fields and removes escapes and quotes. Not thread-safe.
class CopyFields {
 public:
  /// `check`: for what escapes yield.
  CopyFields(const CopyFormatOptions& options, CheckText check);

  /// Puts the first `most` fields of `row` into `out` and returns the number of all fields. The fields are valid until
  /// the next split, and no longer than the row. Throws Error{Corrupt} for unclosed quotes, and the
  /// errors of `check`.
  std::size_t split(std::string_view row, std::size_t most, std::vector<CopyField>& out);

  /// The text that denotes NULL.
  std::string_view null() const { return null_; }

 private:
  // Each consumes one field, up to its delimiter, from the front of the remaining row.
  CopyField next_text(std::string_view& rest);
  CopyField next_csv(std::string_view& rest);
  // The value of the field at the beginning of `all`; its first escape or quote is at the front of `rest`.
  std::string_view unescaped(std::string_view all, std::string_view& rest);
  std::string_view unquoted(std::string_view all, std::string_view& rest);

  std::size_t begin_value(std::string_view all, std::string_view rest);
  void take_plain(std::string_view& rest);
  void take_quotes(std::string_view& rest);
  std::size_t plain_length(std::string_view rest) const;

  CheckText check_;
  bool csv_;
  char delimiter_;
  char quote_;
  char escape_;
  std::string null_;
  std::array<bool, 256> special_{};  // bytes that end or interrupt plain text
  std::string values_;               // values that differ from their raw text; never reallocated during a split
};

}  // namespace eindb
