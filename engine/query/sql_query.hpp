#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "engine/results/statement_description.hpp"
#include "engine/session/session_state.hpp"
#include "engine/sql/compiled_sql.hpp"
#include "engine/sql/sql_text.hpp"
#include "parser/ast.hpp"
#include "storage/cells/tensor_table.hpp"
#include "storage/sqlite/sqlite_statement.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/read_snapshot.hpp"

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
  bool has_statement() const { return compiled_ != nullptr; }
  /// For values. Rows come through step().
  SqliteStatement& statement() {
    DCHECK(compiled_ != nullptr, "there is a statement where there is more than spaces");
    return compiled_->statement;
  }
  /// As the user wrote the expression behind the column.
  std::string column_name(int number) const;
  /// With the types that tables declare, or that follow from the text: Any where neither says more.
  std::vector<Column> columns();
  /// The same with what is known of the parameters, and what follows for those that are Any.
  StatementDescription describe(std::span<const ColumnType> parameters);

  /// True while there is a row. Errors have spans into the user's statement.
  bool step();
  /// Makes durable what the statement wrote; after the last row. Nothing is to be done, and nothing happens, for a
  /// statement that only reads or has no queries inside.
  void commit();
  /// Whether commit() has something to do.
  bool needs_commit() const { return transaction_ != nullptr; }

 private:
  friend PreparedSql prepare_sql(const ast::Sql& sql, SessionState& session, SqlUse use);
  explicit PreparedSql(SessionState& session) : session_(&session) {}
  void make(const ast::Sql& sql, SqlUse use);
  void open(bool writes);
  void show_queries(const ast::Sql& sql, const std::vector<std::string>& names, SqlUse use);
  void show_query(const ast::Query& query, const std::string& name, bool run);
  void compile(bool keep);
  void bind_parameters();
  std::optional<SourceSpan> place_of_parameter(int number) const;
  const CompiledSql::KnownTypes& types(const std::vector<ValueType>& given);

  RewrittenSql text_;
  SessionState* session_;
  // In this order: the statement ends first, its tables and what holds the state of the database last.
  std::unique_ptr<SqliteTransaction> transaction_;  // of a statement with queries that writes
  std::unique_ptr<ReadSnapshot> snapshot_;          // until the first step: queries and statement see one state
  std::vector<VisibleTable> tables_;
  CompiledStatements::Lent compiled_;
};

/// Compiles SQL in which tensors are tables, and the queries in parentheses as well, or takes it from what the session
/// has compiled; parameters get the values of StatementContext::parameters(). Runs these queries, in the transaction
/// that is open, or else in one of the statement's own, so that queries and statement see one state of the database.
/// Throws Error with spans into the user's statement.
PreparedSql prepare_sql(const ast::Sql& sql, SessionState& session, SqlUse use = SqlUse::Run);

}  // namespace eindb
