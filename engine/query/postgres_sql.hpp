#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"
#include "engine/dialect/translate.hpp"
#include "engine/session/session_state.hpp"

namespace eindb {

/// A statement of PostgreSQL's SQL as SQLite takes it.
struct PostgresSql {
  /// A part of `text` and the token of the original that it comes from.
  struct Part {
    std::size_t begin = 0;  ///< in `text`
    SourceSpan original;
  };

  std::string text;
  std::vector<std::string> column_types;  ///< of the rows' columns, as CREATE TABLE names them; empty: unknown
  std::vector<Part> parts;                ///< in the order of the text

  /// The error with its place in the original, if it has one in `text`.
  Error in_original(const Error& error) const;
};

/// Whether the error may come of SQL that PostgreSQL knows and SQLite does not: words that its grammar refuses,
/// functions that it lacks, and parameters with a cast, which it takes for a name: $1::int.
bool may_be_postgres_sql(const Error& of_sqlite);

/// Whether a CREATE TABLE may have a column that is serial, which SQLite would take for a type like any other.
bool may_have_serial(std::string_view sql);

/// Translates SQL that SQLite refused, or would misread, in which queries of eindb are tables already; nullopt if
/// PostgreSQL's grammar refuses it, too. Throws Error with a place in `sql` for SQL that PostgreSQL would refuse, and
/// for SQL that has no translation.
std::optional<PostgresSql> translate_postgres_sql(const std::string& sql, SessionState& session,
                                                  const dialect::Given& given = {});

/// The same for SQL inside a statement of eindb that a server's client sent: PREPARE, REPEAT, CREATE TENSOR. Its
/// parameters are converted to the types that it needs, and it may have the variables of loops. Throws
/// CodedError{42601} where PostgreSQL's grammar refuses a query or a write.
std::optional<PostgresSql> translate_inner_sql(const std::string& sql, SessionState& session);
/// Whether SQL that runs now is such: a server translates the statements that clients send, but not SQL inside of them.
bool runs_inner_sql(const SessionState& session);

}  // namespace eindb
