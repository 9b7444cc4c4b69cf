#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace eindb {

/// The kinds of statements by which metrics count them.
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

/// The properties of a statement that its words tell before it is parsed, whether or not it can be parsed, and whether
/// it is eindb's own or SQL. Comments, parentheses before the first word, EXPLAIN and the definitions of a WITH are
/// seen through.
struct StatementOutline {
  StatementKind kind = StatementKind::Other;  ///< Explain if it explains, whatever that is
  /// As PostgreSQL's command tags begin: "INSERT", "CREATE TABLE". In capital letters; empty for an empty statement.
  std::string tag;
  bool empty = false;        ///< nothing but space, comments and semicolons
  bool explains = false;     ///< EXPLAIN: it is planned, not run
  bool writes = false;       ///< it begins like a statement that changes the database; EXECUTE and EXPLAIN do not
  bool stores_text = false;  ///< CREATE VIEW or TRIGGER: its text is kept, and compiled in every session to come
};

/// Never throws but for lack of memory; `text` may be of any bytes. Reads to the statement's verb, and behind that of
/// COPY and CREATE. Thread-safe.
StatementOutline outline_of(std::string_view text);

}  // namespace eindb
