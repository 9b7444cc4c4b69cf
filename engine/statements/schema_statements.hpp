#pragma once

#include <optional>

#include "engine/results/result.hpp"
#include "engine/session/session_state.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// A CREATE inside another statement of a server's client, as SQLite takes it; nullopt for other SQL.
std::optional<ast::Sql> translated_definition(const ast::Sql& sql, SessionState& session);

/// Whether the SQL is a statement about the schema that takes several of SQLite's.
bool takes_several_statements(const ast::Sql& sql);

/// Runs such a statement: all of it or, with an error, nothing. nullopt for other SQL.
std::optional<Result> execute_schema_statement(const ast::Sql& sql, SessionState& session);

/// Forgets the comments and the grants on tables, views and indices that are no more. Call in the transaction that has
/// dropped some.
void forget_what_is_missing(SqliteConnection& connection);

}  // namespace eindb
