#include <string>

#include "common/error.hpp"
#include "engine/rows.hpp"
#include "engine/statements.hpp"
#include "storage/sqlite_connection.hpp"
#include "storage/sqlite_statement.hpp"

namespace eindb {
namespace {

[[noreturn]] void not_there(const std::string& statement) {
  throw Error(ErrorKind::Unsupported, statement + " is not there in this version");
}

// The same value as a cell; bytes become text.
struct ToCell {
  Cell operator()(const std::vector<std::byte>& bytes) const {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  template <class Value>
  Cell operator()(const Value& value) const {
    return value;
  }
};

Cell cell_of(const SqliteValue& value) { return std::visit(ToCell{}, value); }

// Rows of SQLite, one step at a time.
class SqlRows final : public RowSource {
 public:
  SqlRows(SqliteStatement statement, bool has_row) : statement_(std::move(statement)), has_row_(has_row) {}

  bool next(Row& row) override {
    if (!has_row_) return false;
    row.clear();
    for (int c = 0; c < statement_.column_count(); ++c) row.push_back(cell_of(statement_.value(c)));
    has_row_ = statement_.step();
    return true;
  }

 private:
  SqliteStatement statement_;
  bool has_row_;
};

}  // namespace

Result execute_statement(const ast::Empty&, SessionState&) { return {}; }

Result execute_statement(const ast::Set& set, SessionState& session) {
  with_place(set.value.span, [&] { session.settings.set(set.name.text, set.value.value); });
  return status_result("SET");
}

Result execute_statement(const ast::Show& show, SessionState& session) {
  if (show.name) {
    const auto value = with_place(show.name->span, [&] { return session.settings.show(show.name->text); });
    return listed_result({{show.name->text, ColumnType::Text}}, {{value}});
  }
  std::vector<Row> rows;
  for (const auto& entry : session.settings.show_all()) rows.push_back({entry.name, entry.value, entry.description});
  return listed_result({{"name", ColumnType::Text}, {"value", ColumnType::Text}, {"description", ColumnType::Text}},
                       std::move(rows));
}

Result execute_statement(const ast::Reset& reset, SessionState& session) {
  if (!reset.name) session.settings.reset_all();
  else with_place(reset.name->span, [&] { session.settings.reset(reset.name->text); });
  return status_result("RESET");
}

Result execute_statement(const ast::Begin& begin, SessionState& session) {
  if (session.database.connection().in_transaction())
    throw Error(ErrorKind::Value, "a transaction is open already", std::nullopt, "COMMIT or ROLLBACK it first");
  static constexpr const char* kBegin[] = {"BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"};
  session.database.connection().execute(kBegin[static_cast<std::size_t>(begin.mode)]);
  return status_result("BEGIN");
}

Result execute_statement(const ast::Commit&, SessionState& session) {
  if (!session.database.connection().in_transaction()) throw Error(ErrorKind::Value, "no transaction is open");
  session.database.connection().execute("COMMIT");
  return status_result("COMMIT");
}

Result execute_statement(const ast::Rollback&, SessionState& session) {
  if (!session.database.connection().in_transaction()) throw Error(ErrorKind::Value, "no transaction is open");
  session.database.connection().execute("ROLLBACK");
  return status_result("ROLLBACK");
}

Result execute_statement(const ast::Sql& sql, SessionState& session) {
  if (!sql.queries.empty()) {
    throw Error(ErrorKind::Unsupported, "an EINSUM inside SQL is not there in this version", sql.queries.front().span,
                "CREATE TENSOR ... AS EINSUM ... first");
  }
  UserStatement prepared;
  try {
    prepared = session.database.connection().prepare_user(sql.text);
  } catch (const Error& error) {
    // SQLite counts from the statement's own beginning.
    if (!error.span()) throw;
    const SourceSpan place{error.span()->begin + sql.span.begin, error.span()->end + sql.span.begin};
    throw Error(error.kind(), error.message(), place, error.hint());
  }
  if (!prepared.statement) return {};
  auto& statement = *prepared.statement;
  Result result;
  for (int c = 0; c < statement.column_count(); ++c)
    result.columns.push_back({statement.column_name(c), ColumnType::Any});
  // The first step is taken here, so that a statement without rows has done its work.
  const bool has_row = statement.step();
  if (!result.columns.empty()) result.rows = std::make_unique<SqlRows>(std::move(statement), has_row);
  else result.status = "OK";
  return result;
}

Result execute_statement(const ast::InsertInto&, SessionState&) { not_there("INSERT INTO TENSOR"); }

}  // namespace eindb
