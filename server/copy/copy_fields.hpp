#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/copy/copy_format.hpp"

namespace eindb {

/// A value of a row as it came; nothing for NULL.
using CopyField = std::optional<std::string_view>;

/// Splits a row of text or CSV into its fields, without escapes and quotes. Not thread-safe.
class CopyFields {
 public:
  explicit CopyFields(const CopyFormatOptions& options);

  /// Puts the first `most` fields of `row` into `out`, and gives how many it has. They are valid until the next split,
  /// and as long as the row. Throws Error{Corrupt} for quotes that are not closed, Error{Value} for escapes that give
  /// no UTF-8.
  std::size_t split(std::string_view row, std::size_t most, std::vector<CopyField>& out);

  /// What stands for NULL.
  std::string_view null() const { return null_; }

 private:
  // Each takes a field, up to its delimiter, from the front of what is left of the row.
  CopyField next_text(std::string_view& rest);
  CopyField next_csv(std::string_view& rest);
  // The field that `all` begins with, whose first escape or quote is at the front of `rest`.
  std::string_view unescaped(std::string_view all, std::string_view& rest);
  std::string_view unquoted(std::string_view all, std::string_view& rest);

  std::size_t begin_value(std::string_view all, std::string_view rest);
  void take_plain(std::string_view& rest);
  void take_quotes(std::string_view& rest);
  std::size_t plain_length(std::string_view rest) const;

  bool csv_;
  char delimiter_;
  char quote_;
  char escape_;
  std::string null_;
  std::array<bool, 256> special_{};  // bytes that a field does not consist of
  std::string values_;               // of fields that differ from what came; never grows while a row is split
};

}  // namespace eindb
