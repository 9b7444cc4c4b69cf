#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace eindb {

/// The kinds of statements that metrics distinguish.
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

/// The properties of a statement that its words reveal before it is parsed, valid or not, of eindb or SQL. Comments,
/// parentheses before the first word, EXPLAIN and the definitions of a WITH are skipped.
struct StatementOutline {
  StatementKind kind = StatementKind::Other;  ///< Explain for any explained statement
  /// The start of PostgreSQL's command tag, in capital letters: "INSERT", "CREATE TABLE"; empty for an empty statement.
  std::string tag;
  bool empty = false;            ///< only spaces, comments and semicolons
  bool explains = false;         ///< EXPLAIN: it is planned, not run
  bool writes = false;           ///< its first words change the database; false for EXECUTE and EXPLAIN
  bool defines_tensors = false;  ///< its WITH, behind EXPLAIN or not, defines tensors: WITH P[i] = ...
  bool stores_text = false;      ///< CREATE VIEW or TRIGGER: its text is stored, and compiled in every later session
  bool temporary = false;        ///< CREATE TEMP: what it makes is the session's alone
};

/// Throws only if out of memory; `text` may have any bytes. Reads up to the statement's verb, and a few words more for
/// COPY and CREATE. Thread-safe.
StatementOutline outline_of(std::string_view text);

}  // namespace eindb
