#include <array>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "catalog/comment_catalog.hpp"
#include "catalog/grant_catalog.hpp"
#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/nearest_name.hpp"
#include "engine/query/sql_query.hpp"
#include "engine/results/row_bytes.hpp"
#include "engine/results/rows.hpp"
#include "engine/session/open_rows.hpp"
#include "engine/session/statement_scopes.hpp"
#include "engine/settings/machine_file.hpp"
#include "engine/statements/retold_error.hpp"
#include "engine/statements/schema_statements.hpp"
#include "engine/statements/statements.hpp"
#include "parser/token.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/sqlite/sqlite_statement.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

void fill(Row& row, const SqliteStatement& statement) {
  row.clear();
  for (int c = 0; c < statement.column_count(); ++c) row.push_back(cell_of(statement.value(c)));
}

// Rows of SQLite, read one step at a time until the session changes something that they may be read from.
class SqlRows final : public RowSource, public RowsBeingRead {
 public:
  SqlRows(PreparedSql prepared, bool has_row, OpenRows& open) : open_(open) {
    if (!has_row) return;
    prepared_.emplace(std::move(prepared));
    open_.add(*this);
  }
  ~SqlRows() override { open_.remove(*this); }
  SqlRows(const SqlRows&) = delete;
  SqlRows& operator=(const SqlRows&) = delete;

  bool next(Row& row) override {
    if (!kept_.empty()) {
      row = std::move(kept_.front());
      kept_.pop_front();
      return true;
    }
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    if (!prepared_) return false;
    take(row);
    return true;
  }

  std::size_t keep(std::size_t most) override {
    std::size_t bytes = 0;
    while (prepared_) {
      auto& row = kept_.emplace_back();
      try {
        take(row);
      } catch (...) {
        kept_.pop_back();  // the row is still there to be read
        throw;
      }
      bytes += row_bytes(row);
      if (bytes > most) refuse_to_keep();
    }
    if (was_cancelled_) throw Error(ErrorKind::Cancelled, "cancelled");
    return bytes;
  }

  void give_up(std::exception_ptr error) noexcept override {
    error_ = std::move(error);
    prepared_.reset();
  }

 private:
  // Moves the current row of the statement out. Where the next one fails, the error is for whoever reads that.
  void take(Row& row) {
    fill(row, prepared_->statement());
    bool has_row = false;
    try {
      has_row = prepared_->step();
    } catch (const Error& error) {
      was_cancelled_ = error.kind() == ErrorKind::Cancelled;
      error_ = std::current_exception();
    } catch (...) {
      error_ = std::current_exception();
    }
    if (has_row) return;
    open_.remove(*this);
    prepared_.reset();
  }

  [[noreturn]] static void refuse_to_keep() {
    throw Error(ErrorKind::MemoryLimit,
                "the rows of an earlier SELECT are not read yet, and take too much memory to be kept from this change",
                std::nullopt, "read them to their end or close them first, or raise memory_limit");
  }

  OpenRows& open_;
  std::optional<PreparedSql> prepared_;  // at a row; nullopt behind the last
  std::deque<Row> kept_;
  std::exception_ptr error_;  // behind what is kept
  bool was_cancelled_ = false;
};

// All rows of a writing statement, such as INSERT ... RETURNING, which is then committed.
std::unique_ptr<RowSource> rows_of_write(PreparedSql& prepared, bool has_row) {
  std::vector<Row> rows;
  for (; has_row; has_row = prepared.step()) fill(rows.emplace_back(), prepared.statement());
  prepared.commit();
  return listed_rows(std::move(rows));
}

// Errors for SHOW with a name that is not a setting: a tensor, SHOW TABLES, a misspelt SHOW TENSORS.
void refuse_other_shows(const ast::Identifier& name, Catalog& catalog) {
  const auto known = Settings::names();
  if (nearest_name(name.text, known)) return;
  std::string hint;
  if (catalog.find(name.text)) hint = "DESCRIBE " + name.text + " shows a tensor";
  else if (equal_ignoring_case(name.text, "SESSIONS"))
    hint = "a server has sessions, which it shows to its clients: eindb serve";
  else if (equal_ignoring_case(name.text, "TABLES"))
    hint = "SHOW TENSORS lists tensors; in the shell, .tables lists both";
  else if (const auto nearest =
               nearest_name(name.text, std::array<std::string_view, 7>{"TENSORS", "MACROS", "AGGREGATES", "USERS",
                                                                       "ALL", "PLAN_CACHE", "MACHINE"}))
    hint = "did you mean " + *nearest + "?";
  if (!hint.empty())
    throw CodedError("42704", ErrorKind::UnknownName, "there is no setting " + name.text, hint, name.span);
}

// For prepared statements; the parser refuses others in loops.
void refuse_in_loop(const StatementContext& statement) {
  if (!statement.is_in_loop()) return;
  throw Error(ErrorKind::Value, "a loop has transactions of its own", std::nullopt,
              "COMMIT EVERY says how many rounds are one, or BEGIN before the loop makes it a part of yours");
}

// The rows of SHOW plan_cache.
Result plan_cache_counters(const PlanCache& plans) {
  const auto& [hits, misses, evictions, worker_hits, worker_misses] = plans.counters();
  return listed_result(
      {{"plans", ColumnType::Integer},
       {"hits", ColumnType::Integer},
       {"misses", ColumnType::Integer},
       {"evictions", ColumnType::Integer},
       {"worker_hits", ColumnType::Integer},
       {"worker_misses", ColumnType::Integer}},
      {{static_cast<std::int64_t>(plans.size()), hits, misses, evictions, worker_hits, worker_misses}});
}

/// What a DROP or an ALTER TABLE does to the names of the schema.
struct SchemaChange {
  std::string table;
  std::string column;    ///< of RENAME COLUMN
  std::string new_name;  ///< empty: nothing is renamed
};

// DROP ..., ALTER TABLE [main.]t RENAME TO u, ALTER TABLE t RENAME [COLUMN] c TO d; nullopt for other statements.
std::optional<SchemaChange> schema_change(std::string_view sql) {
  Tokenizer tokenizer(sql, kSqliteRules);
  auto token = tokenizer.next();
  const bool alters = token.is_word("ALTER");
  if (!alters && !token.is_word("DROP")) return std::nullopt;
  SchemaChange change;
  const auto name_of = [](const Token& name) { return name.is_quoted() ? unquote(name) : std::string(name.text); };
  tokenizer.next();
  for (token = tokenizer.next(); alters && !token.is(Token::Kind::End); token = tokenizer.next()) {
    if (!token.is_word("RENAME")) {
      if (!token.is_symbol('.')) change.table = name_of(token);
      continue;
    }
    token = tokenizer.next();
    if (token.is_word("COLUMN")) token = tokenizer.next();
    if (!token.is_word("TO")) {
      change.column = name_of(token);
      tokenizer.next();
    }
    change.new_name = name_of(tokenizer.next());
    break;
  }
  return change;
}

// Another number after each change of the schema that all sessions see.
std::int64_t schema_for_all(SqliteConnection& connection) {
  return connection.query_integer("PRAGMA main.schema_version");
}

// Comments and grants go with what they are on.
void keep_comments_and_grants(const SchemaChange& change, SqliteConnection& connection) {
  if (change.new_name.empty()) return forget_what_is_missing(connection);
  CommentCatalog comments(connection);
  if (!change.column.empty()) return comments.rename_column(change.table, change.column, change.new_name);
  comments.rename(change.table, change.new_name);
  GrantCatalog(connection).rename(change.table, change.new_name);
}

Result run_sql(const ast::Sql& sql, SessionState& session) {
  auto prepared = prepare_sql(sql, session);
  if (!prepared.has_statement()) return {};
  Result result;
  result.columns = prepared.columns();
  const bool writes = !prepared.statement().is_read_only();
  if (writes) session.database.check_writable();
  // The first step executes a statement without rows.
  bool has_row = prepared.step();
  const bool has_columns = !result.columns.empty();
  while (has_row && !has_columns) has_row = prepared.step();
  // Nothing allocates memory after a commit, so that no committed statement is reported as failed.
  if (prepared.needs_commit()) {
    auto rows = rows_of_write(prepared, has_row);
    if (has_columns) result.rows = std::move(rows);
  } else if (has_columns) {
    result.rows = std::make_unique<SqlRows>(std::move(prepared), has_row, session.open_rows);
  }
  if (!has_columns) result.status = "OK";
  if (writes) result.rows_changed = session.database.connection().changes();
  return result;
}

}  // namespace

Result execute_statement(const ast::Empty&) { return {}; }

Result execute_statement(const ast::Set& set, SessionUser& user) {
  with_place_of_rows(set.name.span, [&] {
    user.settings.show(set.name.text);  // an error here points at the unknown name
    user.permissions.check_setting(set.name.text);
  });
  with_place_of_rows(set.value.span, [&] { user.settings.set(set.name.text, set.value.value); });
  return status_result("SET");
}

Result execute_statement(const ast::Show& show, OpenDatabase& database, const SessionUser& user) {
  if (show.name && equal_ignoring_case(show.name->text, "PLAN_CACHE")) return plan_cache_counters(database.plans);
  if (show.name && equal_ignoring_case(show.name->text, "MACHINE"))
    return listed_result(machine_columns(), machine_rows(user.machine()));
  if (show.name) {
    refuse_other_shows(*show.name, database.catalog);
    const auto value = with_place_of_rows(show.name->span, [&] { return user.settings.show(show.name->text); });
    return listed_result({{show.name->text, ColumnType::Text}}, {{value}});
  }
  std::vector<Row> rows;
  for (const auto& entry : user.settings.show_all()) rows.push_back({entry.name, entry.value, entry.description});
  return listed_result({{"name", ColumnType::Text}, {"value", ColumnType::Text}, {"description", ColumnType::Text}},
                       std::move(rows));
}

Result execute_statement(const ast::Reset& reset, SessionUser& user) {
  if (!reset.name) user.settings.reset_all();
  else with_place_of_rows(reset.name->span, [&] { user.settings.reset(reset.name->text); });
  return status_result("RESET");
}

Result execute_statement(const ast::Begin& begin, OpenDatabase& database, const StatementContext& statement) {
  refuse_in_loop(statement);
  if (database.connection().in_transaction())
    throw Error(ErrorKind::Value, "a transaction is open already", std::nullopt, "COMMIT or ROLLBACK it first");
  static constexpr const char* kBegin[] = {"BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"};
  CHECK(static_cast<std::size_t>(begin.mode) < std::size(kBegin), "every mode of a transaction has its words");
  database.connection().execute(kBegin[static_cast<std::size_t>(begin.mode)]);
  database.reads_only = begin.read_only;
  return status_result("BEGIN");
}

Result execute_statement(const ast::Commit&, OpenDatabase& database, const StatementContext& statement) {
  refuse_in_loop(statement);
  if (!database.connection().in_transaction())
    throw Error(ErrorKind::Value, "no transaction is open", std::nullopt, "BEGIN opens one");
  CHECK(database.unwritten.empty(), "what a transaction has computed is written before it ends");
  database.connection().execute("COMMIT");
  return status_result("COMMIT");
}

Result execute_statement(const ast::Rollback&, OpenDatabase& database, const StatementContext& statement) {
  refuse_in_loop(statement);
  if (!database.connection().in_transaction())
    throw Error(ErrorKind::Value, "no transaction is open", std::nullopt, "BEGIN opens one");
  database.connection().execute("ROLLBACK");
  return status_result("ROLLBACK");
}

// Reading may begin at any time; writing only where nothing has been read, as in PostgreSQL.
Result execute_statement(const ast::SetTransaction& set, OpenDatabase& database) {
  if (!database.connection().in_transaction())
    throw Error(ErrorKind::Value, "SET TRANSACTION is for a transaction that is open", std::nullopt,
                "BEGIN READ ONLY opens one");
  if (database.reads_only && set.read_only == false)
    throw Error(ErrorKind::Value, "a transaction that is READ ONLY stays so", std::nullopt,
                "end it, and begin one with BEGIN READ WRITE");
  database.reads_only = set.read_only.value_or(database.reads_only);
  return status_result("SET");
}

// SQLite would open a transaction for a savepoint outside of one.
Result execute_statement(const ast::Savepoint& savepoint, SessionState& session) {
  using Use = ast::Savepoint::Use;
  const auto use = savepoint.use;
  const std::string words = use == Use::Set ? "SAVEPOINT" : use == Use::Release ? "RELEASE" : "ROLLBACK TO";
  if (!session.database.connection().in_transaction())
    throw Error(ErrorKind::Value, words + " can only be used in a transaction", savepoint.span, "BEGIN opens one");
  CHECK(use != Use::Set || session.database.unwritten.empty(),
        "what was computed before a savepoint is written before");
  execute_statement(ast::Sql{words + " " + quote_identifier(savepoint.name.text), {}, savepoint.span}, session);
  // SAVEPOINT has written all tensors that were unwritten at that point, so only later ones are forgotten.
  if (use == Use::RollBackTo) session.database.unwritten.forget();
  return status_result(use == Use::RollBackTo ? "ROLLBACK" : words);
}

Result execute_statement(const ast::Sql& sql, SessionState& session) {
  if (const auto definition = translated_definition(sql, session)) {
    const WholeStatement whole(session.statement);
    try {
      return execute_statement(*definition, session);
    } catch (const Error& error) {
      throw_at(error, sql.span, error.hint());  // its own place is one of the translated text
    }
  }
  if (auto done = execute_schema_statement(sql, session)) return std::move(*done);
  auto& connection = session.database.connection();
  const auto change = schema_change(sql.text);
  if (!change || !(CommentCatalog(connection).exists() || GrantCatalog(connection).exists()))
    return run_sql(sql, session);
  SqliteTransaction transaction(connection);
  const auto before = schema_for_all(connection);
  auto result = run_sql(sql, session);
  // A temporary table may have the name of one with comments and grants.
  if (schema_for_all(connection) != before) keep_comments_and_grants(*change, connection);
  transaction.commit();
  return result;
}

}  // namespace eindb
