#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "engine/session/session_state.hpp"
#include "parser/ast.hpp"
#include "storage/cells/tensor_table.hpp"

namespace eindb {

/// The query of a view, which is the name of a table in the view's text:
///
///     CREATE VIEW v AS SELECT i FROM (EINSUM Z[i] = X[i])
///     CREATE VIEW v AS SELECT i FROM "(EINSUM Z[i] = X[i])" AS "Z"
///
/// SQLite knows no such table, so that the query is evaluated for each statement that reads the view.
struct StoredQuery {
  std::string name;  ///< of the table: the query in parentheses
  ast::Query query;
};

/// The name of the table of the query `embedded`, quoted. Throws Error{Unsupported} for a query with parameters or loop
/// variables, which have no values later.
std::string stored_query_name(const ast::Sql& sql, const ast::EmbeddedQuery& embedded);

/// The query whose table the error of SQLite misses; nullopt for other errors. Throws Error{Syntax} if the name in
/// parentheses is no query.
std::optional<StoredQuery> missing_query(const Error& of_sqlite);

/// Compiles a query of all columns of the table or view, and makes the tensors that it reads visible to SQL, and its
/// queries as tables that nobody reads, as long as `queries` keeps them. Throws what SQLite, or planning, says against
/// it.
void check_readable(const std::string& quoted_name, SessionState& session, std::vector<VisibleTable>& queries);

/// The same for every view that can be read: SQLite compiles all of them when a table is altered.
void show_sources_of_views(SessionState& session, std::vector<VisibleTable>& queries);

/// The columns of a table, view or tensor as OpenDatabase::columns_of() finds them, also of views with queries, which
/// are planned for it.
std::optional<std::vector<TypedColumn>> columns_of(SessionState& session, const std::string& schema,
                                                   const std::string& table);

}  // namespace eindb
