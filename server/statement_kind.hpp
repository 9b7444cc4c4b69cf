#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace eindb {

/// What statements are counted by.
enum class StatementKind : std::uint8_t {
  Einsum,
  Select,
  Insert,
  Update,
  Delete,
  Create,
  Alter,
  Drop,
  Copy,
  Explain,
  Transaction,
  Setting,
  Other
};

inline constexpr std::array<std::string_view, 13> kStatementKindNames{
    "einsum", "select", "insert",  "update",      "delete",  "create", "alter",
    "drop",   "copy",   "explain", "transaction", "setting", "other"};

/// By its first word, whatever comments and parentheses stand before it. Reads no further.
StatementKind statement_kind(std::string_view text);

}  // namespace eindb
