#include "engine/files/load_rows.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/query/postgres_sql.hpp"
#include "engine/query/sql_cells.hpp"
#include "engine/query/sql_query.hpp"
#include "parser/parser.hpp"
#include "storage/cells/cell_loader.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kRowsPerReport = 65536;

std::int64_t find_column(const std::vector<Column>& columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return equal_ignoring_case(column.name, name); });
  return found == columns.end() ? -1 : found - columns.begin();
}

[[noreturn]] void fail_unknown_column(const LoadTarget& target, const std::string& name,
                                      const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  const auto nearest = nearest_name(name, std::span<const std::string>(names));
  throw Error(ErrorKind::UnknownName, target.name + " has no column \"" + name + "\"", std::nullopt,
              nearest ? "did you mean " + *nearest + "?" : "");
}

/// The number in `all` of each column that the rows have.
std::vector<std::size_t> chosen_columns(const LoadTarget& target, const std::vector<Column>& all) {
  std::vector<std::size_t> chosen;
  for (const auto& name : target.columns) {
    const auto column = find_column(all, name);
    if (column < 0) fail_unknown_column(target, name, all);
    chosen.push_back(static_cast<std::size_t>(column));
  }
  for (std::size_t n = 0; target.columns.empty() && n < all.size(); ++n) chosen.push_back(n);
  return chosen;
}

// ---- Tensors -------------------------------------------------------------------------------------------------------

ColumnType type_of_parts(DType dtype) {
  switch (dtype) {
    case DType::Int64: return ColumnType::Integer;
    case DType::Float32:
    case DType::Complex64: return ColumnType::Float32;
    default: return ColumnType::Float64;
  }
}

/// The columns that SQL shows; re and im only if `with_parts`.
std::vector<Column> columns_of(const TensorInfo& tensor, bool with_parts) {
  std::vector<Column> columns;
  for (std::size_t d = 0; d < tensor.labels.size(); ++d)
    columns.push_back({tensor.labels[d], tensor.names.at(d) == nullptr ? ColumnType::Integer : ColumnType::Text});
  const auto type = type_of_parts(tensor.dtype);
  columns.push_back({"val", is_complex(tensor.dtype) ? ColumnType::Text : type});
  if (!with_parts || !is_complex(tensor.dtype)) return columns;
  columns.push_back({"re", type});
  columns.push_back({"im", type});
  return columns;
}

class TensorLoader final : public RowLoader {
 public:
  TensorLoader(const LoadTarget& target, const TensorInfo& existing, SessionState& session)
      : session_(session),
        name_(existing.own_name()),
        transaction_(session.database.connection()),
        staged_(session.database.catalog.stage(existing.type(), existing.labels, existing.grid, existing.replicas,
                                               existing.schema, existing.names)),
        cells_(std::in_place, session.database.connection(), staged_.store(), session.statement.cancellation(),
               CellLoaderOptions{.memory = session.user.settings.memory_limit(),
                                 .spill_directory = session.database.file.scratch_directory(),
                                 .place = [](std::int64_t row) { return "row " + std::to_string(row); }}) {
    const auto all = columns_of(existing, !target.columns.empty());
    places_ = chosen_columns(target, all);
    for (const auto place : places_) columns_.push_back(all[place]);
    cell_.key.resize(existing.labels.size());
    values_.resize(all.size() - existing.labels.size());
    check_complete(existing);
    CHECK(!in_parts_ || values_.size() == 3, "a number in parts has a real and an imaginary one");
  }

  void add(const Row& row) override {
    CHECK(cells_.has_value() && row.size() == places_.size(), "a loader gets rows of its columns until it is finished");
    ++cell_.line;
    if (cell_.line % kRowsPerReport == 0) session_.statement.report("import", cell_.line, 0);
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (places_[n] < cell_.key.size()) cell_.key[places_[n]] = index(row[n], n);
      else values_[places_[n] - cell_.key.size()] = number(row[n], n);
    }
    if (in_parts_) cell_.value = std::complex<double>(real(1), real(2));
    else cell_.value = values_[0];
    cells_->add(cell_);
  }

  std::int64_t finish() override {
    CHECK(cells_.has_value(), "the cells of a tensor are finished once");
    cells_->finish();
    cells_.reset();
    session_.database.catalog.publish(staged_, name_);
    transaction_.commit();
    return cell_.line;
  }

 private:
  void check_complete(const TensorInfo& tensor) {
    const auto has = [&](std::size_t place) {
      return std::find(places_.begin(), places_.end(), place) != places_.end();
    };
    const auto rank = tensor.labels.size();
    in_parts_ = has(rank + 1) && has(rank + 2) && !has(rank);
    bool complete = places_.size() == rank + (in_parts_ ? 2 : 1) && (in_parts_ || has(rank));
    for (std::size_t d = 0; d < rank; ++d) complete = complete && has(d);
    if (complete) return;
    throw Error(ErrorKind::Value, "a row of tensor " + name_ + " needs all of its columns", std::nullopt,
                is_complex(tensor.dtype) ? "name all labels and val, or re and im, or no columns at all"
                                         : "name all labels and val, or no columns at all");
  }

  [[noreturn]] void fail(std::size_t column, const std::string& what) const {
    throw Error(ErrorKind::Value, columns_[column].name + " in row " + std::to_string(cell_.line) + " is " + what);
  }

  std::int64_t index(const Cell& cell, std::size_t column) const {
    if (const auto names = staged_.names.at(places_[column])) {
      const auto* text = std::get_if<std::string>(&cell);
      const auto found = index_named_by(cell, *names);
      if (found < 0) fail(column, text == nullptr ? "no text" : "'" + *text + "', which is the name of no index");
      return found;
    }
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
    fail(column, "no integer");
  }

  CellValue number(const Cell& cell, std::size_t column) const {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
    if (const auto* single = std::get_if<float>(&cell)) return double{*single};
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (const auto* text = std::get_if<std::string>(&cell)) {
      if (const auto value = parse_cell_value(*text)) return *value;
    }
    const bool is_null = std::holds_alternative<std::monostate>(cell);
    if (is_null && staged_.dtype != DType::Int64) return std::numeric_limits<double>::quiet_NaN();
    fail(column, is_null ? "NULL: INT64 has none" : "no number");
  }

  /// The real or the imaginary part.
  double real(std::size_t part) const {
    if (const auto* integer = std::get_if<std::int64_t>(&values_[part])) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&values_[part])) return *real;
    const auto place = std::find(places_.begin(), places_.end(), cell_.key.size() + part);
    fail(static_cast<std::size_t>(place - places_.begin()), "no real number");
  }

  SessionState& session_;
  const std::string name_;
  SqliteTransaction transaction_;  // ends last
  TensorInfo staged_;
  std::optional<CellLoader> cells_;
  std::vector<std::size_t> places_;  // numbers of the rows' columns among the tensor's
  KeyedCell cell_;                   // the cell being assembled; its line is the number of rows so far
  std::vector<CellValue> values_;    // val, re, im
  bool in_parts_ = false;            // re and im rather than val
};

// ---- Tables --------------------------------------------------------------------------------------------------------

PreparedSql compile_insert(const LoadTarget& target, const std::vector<Column>& columns, SessionState& session) {
  auto sql = "INSERT INTO " + (target.schema.empty() ? "" : quote_identifier(target.schema) + ".") +
             quote_identifier(target.name) + " (";
  for (const auto& column : columns) sql += quote_identifier(column.name) + ",";
  sql.back() = ')';
  // Numbers of a column that counts come with the rows.
  sql += target.checked ? " OVERRIDING SYSTEM VALUE VALUES (" : " VALUES (";
  for (std::size_t n = 0; n < columns.size(); ++n) sql += "$" + std::to_string(n + 1) + ",";
  sql.back() = ')';
  if (target.checked) {
    const auto translated = translate_postgres_sql(sql, session);
    CHECK(translated.has_value(), "an INSERT of parameters is PostgreSQL's SQL");
    sql = translated->text;
  }
  return prepare_sql(std::get<ast::Sql>(parse_statement(sql).node), session, SqlUse::Describe);
}

class TableLoader final : public RowLoader {
 public:
  TableLoader(const LoadTarget& target, const std::vector<Column>& all, SessionState& session)
      : session_(session), transaction_(session.database.connection()) {
    for (const auto place : chosen_columns(target, all)) columns_.push_back(all[place]);
    insert_.emplace(compile_insert(target, columns_, session));
  }

  void add(const Row& row) override {
    CHECK(insert_.has_value() && row.size() == columns_.size(),
          "a table gets rows of its columns until it is finished");
    if (++rows_ % kRowsPerReport == 0) session_.statement.report("import", rows_, 0);
    session_.statement.cancellation().check();
    for (std::size_t n = 0; n < row.size(); ++n) bind(static_cast<int>(n) + 1, row[n]);
    while (insert_->step()) {
    }
    insert_->statement().reset();
  }

  std::int64_t finish() override {
    CHECK(insert_.has_value(), "the rows of a table are finished once");
    insert_.reset();
    transaction_.commit();
    return rows_;
  }

 private:
  void bind(int parameter, const Cell& cell) {
    auto& insert = insert_->statement();
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) insert.bind(parameter, *integer);
    else if (const auto* single = std::get_if<float>(&cell)) insert.bind(parameter, number_for_sql(*single));
    else if (const auto* real = std::get_if<double>(&cell)) insert.bind(parameter, number_for_sql(*real));
    else if (const auto* text = std::get_if<std::string>(&cell)) insert.bind(parameter, std::string_view(*text));
    else if (const auto* bytes = std::get_if<std::vector<std::byte>>(&cell)) insert.bind(parameter, std::span(*bytes));
    else insert.bind_null(parameter);
  }

  SessionState& session_;
  SqliteTransaction transaction_;  // ends last
  std::optional<PreparedSql> insert_;
  std::int64_t rows_ = 0;
};

}  // namespace

// Generated columns do not take values.
std::vector<Column> columns_of_table(const LoadTarget& target, SqliteConnection& connection) {
  auto select = connection.prepare(
      "SELECT name, type FROM pragma_table_xinfo(?1, ?2) WHERE hidden = 0 AND ?1 NOT LIKE 'eindb\\_%' ESCAPE '\\'");
  select.bind(1, target.name);
  if (target.schema.empty()) select.bind_null(2);
  else select.bind(2, target.schema);
  std::vector<Column> columns;
  while (select.step()) columns.push_back({select.text(0), ColumnType::Any, select.text(1)});
  return columns;
}

std::unique_ptr<RowLoader> load_rows(const LoadTarget& target, SessionState& session) {
  session.database.tensor_tables.refresh();
  const bool of_main = equal_ignoring_case(target.schema, kMainSchema);
  const bool of_session = equal_ignoring_case(target.schema, kTemporarySchema);
  if (target.schema.empty() || of_main || of_session) {
    if (const auto* attached = session.database.attached.find(target.name)) {
      throw Error(ErrorKind::ReadOnly, attached->name() + " is an attached tensor, which statements only read",
                  std::nullopt, "its values are the program's to change");
    }
    auto& catalog = session.database.catalog;
    const auto tensor = of_main || of_session ? catalog.find_in(of_main ? kMainSchema : kTemporarySchema, target.name)
                                              : catalog.find_own(target.name);
    if (tensor) {
      session.check_right(*tensor, Right::Update);
      return std::make_unique<TensorLoader>(target, *tensor, session);
    }
  }
  const auto columns = columns_of_table(target, session.database.connection());
  if (!columns.empty()) return std::make_unique<TableLoader>(target, columns, session);
  const auto names = session.database.catalog.names();
  const auto nearest = nearest_name(target.name, std::span<const std::string>(names));
  throw Error(ErrorKind::UnknownName, "there is no tensor or table \"" + target.name + "\"", std::nullopt,
              nearest ? "did you mean " + *nearest + "?" : "CREATE TENSOR or CREATE TABLE it first");
}

}  // namespace eindb
