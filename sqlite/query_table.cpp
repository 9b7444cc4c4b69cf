#include "sqlite/query_table.hpp"

#include "sqlite/values.hpp"

namespace eindb_sqlite {
namespace {

constexpr int kStatement = 1;  // the number of a column: row comes before it
constexpr int kParameters = 9;
constexpr int kExcess = kStatement + kParameters + 1;  // where an argument too many would arrive
constexpr int kFirstValue = kExcess + 1;
constexpr int kValues = 32;

/// A function's: the statement is an argument.
class FunctionCursor final : public Cursor {
 public:
  using Cursor::Cursor;

  void start(int given, const char* /*plan*/, std::span<sqlite3_value*> values) override {
    if ((given & 1) == 0) throw HostError("eindb_query() has the statement as its first argument, a text");
    if ((given & (given + 1)) != 0) throw HostError("the arguments of eindb_query() are a statement, then $1, $2, ...");
    const auto text = text_of(values[0], "the statement of eindb_query() is a text");
    auto& connection = begins_reading(text) ? reading() : database().for_statement(text);
    run(connection, [&] {
      if (values.size() == 1) return connection.execute(text);
      auto statement = connection.prepare(text);
      for (std::size_t n = 1; n < values.size(); ++n) bind(statement, n, values[n]);
      return statement.execute();
    });
  }

  void give_column(sqlite3_context* context, int column) override {
    const auto row = this->row();
    const int value = column - kFirstValue;
    if (value >= 0 && static_cast<std::size_t>(value) < row.size())
      return give(context, row.value(static_cast<std::size_t>(value)));
    if (column == 0) return give_row(context, row);
    sqlite3_result_null(context);
  }

 private:
  void give_row(sqlite3_context* context, const eindb::RowView& row) {
    if (row.size() == 1) return give(context, row.value(0));
    std::string text;
    for (std::size_t n = 0; n < row.size(); ++n) {
      text += n == 0 ? '{' : ',';
      append_json(text, std::string_view(this->columns()[n]));
      text += ':';
      append_json(text, row.value(n));
    }
    give(context, text + '}');
  }
};

class FunctionTable final : public Table {
 public:
  explicit FunctionTable(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  std::string declaration() const override {
    std::string text = "CREATE TABLE x(row, statement HIDDEN";
    for (int n = 1; n <= kParameters; ++n) text += ", p" + std::to_string(n) + " HIDDEN";
    text += ", excess HIDDEN";
    for (int n = 0; n < kValues; ++n) text += ", c" + std::to_string(n) + " HIDDEN";
    return text + ")";
  }

  bool plan(sqlite3_index_info& info) override {
    for (const auto& constraint : std::span(info.aConstraint, static_cast<std::size_t>(info.nConstraint))) {
      if (constraint.iColumn == kExcess)
        throw HostError("eindb_query() takes a statement and at most " + std::to_string(kParameters) + " parameters");
    }
    return plan_arguments(info, kStatement, kParameters + 1);
  }

  std::unique_ptr<Cursor> open() override { return std::make_unique<FunctionCursor>(database_); }

 private:
  std::shared_ptr<Database> database_;
};

struct CreatedQuery {
  std::string text;
  std::vector<eindb::ColumnInfo> columns;
};

class CreatedQueryCursor final : public Cursor {
 public:
  CreatedQueryCursor(std::shared_ptr<Database> database, std::shared_ptr<const CreatedQuery> query)
      : Cursor(std::move(database)), query_(std::move(query)) {}

  void start(int /*number*/, const char* /*plan*/, std::span<sqlite3_value*> /*values*/) override {
    auto& connection = reading();
    run(connection, [&] {
      auto rows = connection.execute(query_->text);
      if (rows.columns().size() != query_->columns.size())
        throw HostError("the query has other columns now\n  hint: create its virtual table again");
      return rows;
    });
  }

  void give_column(sqlite3_context* context, int column) override {
    give(context, row().value(static_cast<std::size_t>(column)));
  }

 private:
  std::shared_ptr<const CreatedQuery> query_;
};

class CreatedQueryTable final : public Table {
 public:
  CreatedQueryTable(std::shared_ptr<Database> database, const std::string& text) : database_(std::move(database)) {
    auto columns = database_->reading().prepare(text).columns();
    query_ = std::make_shared<const CreatedQuery>(CreatedQuery{.text = text, .columns = std::move(columns)});
    if (query_->columns.empty()) throw HostError("the statement gives no rows\n  hint: eindb_exec() runs it");
  }

  std::string declaration() const override { return declaration_of(query_->columns); }

  bool plan(sqlite3_index_info& info) override {
    info.estimatedCost = 1e6;
    info.estimatedRows = 1000;
    return true;
  }

  std::unique_ptr<Cursor> open() override { return std::make_unique<CreatedQueryCursor>(database_, query_); }

 private:
  std::shared_ptr<Database> database_;
  std::shared_ptr<const CreatedQuery> query_;
};

class QueryMaker final : public TableMaker {
 public:
  explicit QueryMaker(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  std::unique_ptr<Table> make(const std::optional<CreatedTable>& created) override {
    if (!created) return std::make_unique<FunctionTable>(database_);
    if (created->arguments.size() != 1) {
      throw HostError(
          "CREATE VIRTUAL TABLE ... USING eindb_query('QUERY') takes one argument\n"
          "  hint: put the query in single quotes, and double those in it");
    }
    // A file from elsewhere may have such a table, and whoever reads that must not thereby write files, say.
    if (!begins_pure_query(created->arguments.front()))
      throw HostError("a virtual table is of a query: EINSUM, SELECT, VALUES, WITH or EXPLAIN");
    return std::make_unique<CreatedQueryTable>(database_, created->arguments.front());
  }
  int use() const override { return SQLITE_VTAB_DIRECTONLY; }

 private:
  std::shared_ptr<Database> database_;
};

}  // namespace

void add_query_module(const std::shared_ptr<Database>& database) {
  add_module(database->host(), "eindb_query", std::make_unique<QueryMaker>(database), Creation::ByStatement);
}

}  // namespace eindb_sqlite
