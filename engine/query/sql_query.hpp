#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "engine/plans/planned_query.hpp"
#include "engine/query/postgres_sql.hpp"
#include "engine/results/result.hpp"
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

/// The purpose of compiling a statement of SQL.
enum class SqlUse : std::uint8_t {
  Run,      ///< to be stepped through
  Describe  ///< for its columns and parameters only: queries inside do not run, and parameters have no value
};

/// The number as a value for SQL, which has no NaN: SQLite would take it for NULL. Throws CodedError{0A000}.
double number_for_sql(double value);

/// A compiled SQL statement, ready to run. It holds the results of the queries inside it, as tables. Must not outlive
/// its session.
class PreparedSql {
 public:
  /// False if the text had only spaces and comments.
  bool has_statement() const { return compiled_ != nullptr; }
  /// For access to values. Rows come through step().
  SqliteStatement& statement() {
    DCHECK(compiled_ != nullptr, "there is a statement where there is more than spaces");
    return compiled_->statement;
  }
  /// The expression of the column as the user wrote it.
  std::string column_name(int number) const;
  /// Whether it has rows for the user. SQLite gives ALTER TABLE some that are its own.
  bool gives_rows() const;
  /// The columns, with types from table declarations or inferred from the text; Any where neither gives a type.
  std::vector<Column> columns();
  /// The columns and parameters, with the given parameter types and the types inferred for parameters that are Any.
  StatementDescription describe(std::span<const ColumnType> parameters);

  /// Advances to the next row; false after the last one. Errors have spans into the user's statement.
  bool step();
  /// Commits the statement's writes; call after the last row. Does nothing for a statement that only reads or has no
  /// queries inside.
  void commit();
  /// Whether commit() would do anything.
  bool needs_commit() const { return transaction_ != nullptr; }

 private:
  friend PreparedSql prepare_sql(const ast::Sql& sql, SessionState& session, SqlUse use);
  PreparedSql(SessionState& session, SqlUse use) : session_(&session), use_(use) {}
  void make(const ast::Sql& sql);
  bool next_row();
  void open(bool writes);
  void show_queries(const ast::Sql& sql, const std::vector<std::string>& names);
  void check_stored_query(const PlannedQuery& planned, const ast::Sql& sql, const ast::EmbeddedQuery& embedded);
  std::vector<FileInSql> file_tables(const ast::Sql& sql);
  void show_files(const ast::Sql& sql, const std::vector<FileInSql>& files, std::span<const std::string> names);
  void show_query(const ast::Query& query, const std::string& name, bool run);
  void compile(bool keep);
  bool show_stored_query(const Error& of_sqlite);
  bool translate(const Error& of_sqlite);
  void translate_inner();
  void translate_all();
  [[noreturn]] void refuse(const Error& of_sqlite) const;
  const std::string& text_for_sqlite() const { return translated_ ? translated_->text : text_.text; }
  bool may_read_complex() const;
  void refuse_misused_complex() const;
  void bind_parameters();
  std::optional<SourceSpan> place_of_parameter(int number) const;
  const CompiledSql::KnownTypes& types(const std::vector<ValueType>& given);

  template <class Run>
  auto placed(const Run& run) const;

  std::optional<RewrittenSql> with_parts_;  // the user's SQL with queries for parts of tensors, where there are any
  RewrittenSql text_;                       // that, or the user's SQL, for SQLite
  std::string key_;                         // of what is kept when it is compiled
  std::optional<PostgresSql> translated_;   // of text_, where only PostgreSQL's grammar or functions know it
  SessionState* session_;
  SqlUse use_;
  // Order of members: the statement is destroyed first, its tables and the snapshot of the database last.
  std::unique_ptr<SqliteTransaction> transaction_;  // for statements that have queries inside and write
  std::unique_ptr<ReadSnapshot> snapshot_;          // until the first step: gives queries and statement one state
  std::vector<VisibleTable> tables_;
  std::vector<std::shared_ptr<void>> files_;
  bool has_complex_result_ = false;  // among the queries inside
  CompiledStatements::Lent compiled_;
};

/// A value of a column as a cell of a row.
Cell cell_of(SqliteValue value);

/// Compiles SQL in which tensors and queries in parentheses are tables, or takes it from the session's compiled
/// statements. Parameters get the values of StatementContext::parameters(). Runs the queries inside, in the open
/// transaction or else in one of the statement's own, so that queries and statement see one state of the database.
/// Throws Error with spans into the user's statement.
PreparedSql prepare_sql(const ast::Sql& sql, SessionState& session, SqlUse use = SqlUse::Run);

}  // namespace eindb
