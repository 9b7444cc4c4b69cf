#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/session_state.hpp"
#include "engine/sql_text.hpp"
#include "parser/ast.hpp"
#include "storage/read_snapshot.hpp"
#include "storage/sqlite_statement.hpp"
#include "storage/sqlite_transaction.hpp"
#include "storage/tensor_table.hpp"

namespace eindb {

/// What SQL is compiled for.
enum class SqlUse : std::uint8_t {
  Run,      ///< to be stepped through
  Describe  ///< for its columns and parameters alone: no query inside runs, and no parameter has a value
};

/// A statement of SQL, compiled and ready to run. It holds what the statement needs while it runs: the results of the
/// queries inside it, as tables. Must not outlive its session.
class PreparedSql {
 public:
  /// False if the text was of spaces and comments.
  bool has_statement() const { return statement_.has_value(); }
  /// For columns, parameters and values. Rows come through step().
  SqliteStatement& statement() { return *statement_; }
  /// As the user wrote the expression behind the column, and what the table says of its values: Any where the column
  /// is of no table, or of one that says nothing.
  Column column(int number) const;
  std::vector<Column> columns() const;

  /// True while there is a row. Errors have spans into the user's statement.
  bool step();
  /// Makes durable what the statement wrote; after the last row. Nothing is to be done, and nothing happens, for a
  /// statement that only reads or has no queries inside.
  void commit();
  /// Whether commit() has something to do.
  bool needs_commit() const { return transaction_ != nullptr; }

 private:
  friend PreparedSql prepare_sql(const ast::Sql& sql, SessionState& session, SqlUse use);
  PreparedSql(RewrittenSql text, SessionState& session) : text_(std::move(text)), session_(&session) {}
  void open(bool writes);
  void show_query(const ast::Query& query, const std::string& name, bool run);
  void compile();
  void bind_parameters();

  RewrittenSql text_;
  SessionState* session_;
  // In this order: the statement ends first, its tables and what holds the state of the database last.
  std::unique_ptr<SqliteTransaction> transaction_;  // of a statement with queries that writes
  std::unique_ptr<ReadSnapshot> snapshot_;          // until the first step: queries and statement see one state
  std::vector<VisibleTable> tables_;
  std::optional<SqliteStatement> statement_;
};

/// Compiles SQL in which tensors are tables, and the queries in parentheses as well; parameters get the values of
/// session.parameters. Runs these queries, in the
/// transaction that is open, or else in one of the statement's own, so that queries and statement see one state of the
/// database. Throws Error with spans into the user's statement.
PreparedSql prepare_sql(const ast::Sql& sql, SessionState& session, SqlUse use = SqlUse::Run);

}  // namespace eindb
