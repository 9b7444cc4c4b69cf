#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "engine/session/open_database.hpp"
#include "engine/sql/sql_text.hpp"
#include "parser/ast.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

// Checks that refuse what SQL may not do with tensors, and errors of SQLite told in the user's terms. Without state;
// threads: like the database.

/// The prefix of tables that hold results of queries. A user's SQL cannot create such a table.
inline constexpr std::string_view kQueryTable = "eindb_query_";

/// An error of SQLite in terms of the user's statement, whose text for SQLite is `text`.
Error explained(const Error& of_sqlite, const RewrittenSql& text, OpenDatabase& database);

/// Whether SQLite has another table of this name than a tensor's.
bool is_ordinary(const std::string& name, SqliteConnection& connection);

/// Refuses to create a table with the name of a tensor, and to alter or drop a tensor as if it were a table.
void check_schema_targets(const ast::Sql& sql, OpenDatabase& database);

/// The error of a bracket after a table that SQLite takes for an alias: FROM X[1,j] would be all of X. Its span is in
/// SQLite's text, as that of SQLite's errors.
std::optional<Error> misleading_bracket(const RewrittenSql& text, OpenDatabase& database);

/// SQLite finds a tensor of the database under any schema: temp.X would be X where there is no temporary tensor X.
/// Error{UnknownName} for such a name.
void refuse_foreign_schema(const std::string& sql, OpenDatabase& database);

/// Refuses to read one of SQLite's own tables if a tensor has its name; earlier versions of eindb allowed such tensors.
void check_names_of_sqlite(const ast::Sql& sql, OpenDatabase& database);

}  // namespace eindb
