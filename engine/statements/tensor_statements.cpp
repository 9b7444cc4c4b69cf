#include <algorithm>
#include <optional>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/query/stored_query.hpp"
#include "engine/results/rows.hpp"
#include "engine/sql/attached_tables.hpp"
#include "engine/sql/schema_objects.hpp"
#include "engine/statements/schema_statements.hpp"
#include "engine/statements/statements.hpp"
#include "engine/statements/views_of_dropped.hpp"
#include "storage/sqlite/sqlite_authorizer.hpp"
#include "storage/sqlite/sqlite_statement.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

// "Oslo, Bergen, Alta and 9 more", or "2024-01-01 to 2024-12-01 by 1 month"; NULL if there are none.
Cell names_text(const IndexNames::Ptr& names) {
  constexpr std::int64_t kShown = 5;
  if (names == nullptr) return Cell{};
  const auto size = names->size();
  if (names->is_calendar() && size > 0) return names->first() + " to " + names->name(size - 1) + " by " + names->step();
  std::string text;
  for (std::int64_t n = 0; n < std::min(size, kShown); ++n) text += (n == 0 ? "" : ", ") + names->name(n);
  return size > kShown ? text + " and " + std::to_string(size - kShown) + " more" : text;
}

// The number of copies is shown only if it exceeds one: a single copy at workers is as good as one in the file. Names
// have a column where there are some.
Result description(const std::vector<std::string>& labels, const TileGrid& grid, StoredType type, std::int64_t replicas,
                   const DimensionNames& names) {
  CHECK(labels.size() == grid.rank(), "a tensor has a label for each dimension");
  std::vector<Row> rows;
  for (std::size_t d = 0; d < labels.size(); ++d)
    rows.push_back({labels[d], std::string("label"), grid.shape()[d], grid.partition()[d], names_text(names.at(d))});
  rows.push_back({std::string("val"), std::string(name_of(type)), Cell{}, Cell{}, Cell{}});
  if (replicas > 1) rows.push_back({std::string("replicas"), std::string("placement"), replicas, Cell{}, Cell{}});
  std::vector<Column> columns{{"column", ColumnType::Text},
                              {"type", ColumnType::Text},
                              {"extent", ColumnType::Integer},
                              {"parts", ColumnType::Integer},
                              {"names", ColumnType::Text}};
  if (names.empty()) {
    columns.pop_back();
    for (auto& row : rows) row.pop_back();
  }
  return listed_result(std::move(columns), std::move(rows));
}

// "table" or "view"; empty if SQL has none of that name, or it is one of eindb's own.
std::string kind_of_table(const std::string& name, SqliteConnection& connection) {
  const auto attached = attached_name(name, connection);
  const auto& own_name = attached ? attached->name : name;
  if (is_reserved_name(own_name.c_str())) return {};
  if (attached) return kind_of_object(attached->schema, own_name, connection);
  auto kind = kind_of_object(kMainSchema, own_name, connection);
  return kind.empty() ? kind_of_object(kTemporarySchema, own_name, connection) : kind;
}

// The columns of an ordinary table or view; nullopt if there is none of that name. `key` is the place in the primary
// key.
std::optional<Result> table_description(const std::string& name, SessionState& session) {
  auto& database = session.database;
  const auto kind = kind_of_table(name, database.connection());
  if (kind.empty()) return std::nullopt;
  // SQLite compiles a view in order to tell its columns.
  std::vector<VisibleTable> queries;
  const auto attached = attached_name(name, database.connection());
  if (kind == "view" && !attached) check_readable(quote_identifier(name), session, queries);
  auto select = database.connection().prepare(
      "SELECT name, type, \"notnull\" OR (pk > 0 AND type = 'INTEGER' COLLATE NOCASE), dflt_value, nullif(pk, 0)"
      " FROM pragma_table_xinfo(?1, ?2) WHERE hidden <> 1");
  select.bind(1, attached ? attached->name : name);
  if (attached) select.bind(2, attached->schema);
  std::vector<Row> rows;
  while (select.step()) {
    rows.push_back({select.text(0), select.text(1), std::string(select.integer(2) != 0 ? "no" : "yes"),
                    select.is_null(3) ? Cell{} : Cell{select.text(3)},
                    select.is_null(4) ? Cell{} : Cell{select.integer(4)}});
  }
  return listed_result({{"column", ColumnType::Text},
                        {"type", ColumnType::Text},
                        {"nullable", ColumnType::Text},
                        {"default", ColumnType::Text},
                        {"key", ColumnType::Integer}},
                       std::move(rows));
}

// All are found before one is dropped: a temporary tensor may hide another one of its name.
std::vector<TensorInfo> tensors_of(const ast::DropTensor& drop, OpenDatabase& database) {
  std::vector<TensorInfo> tensors;
  for (const auto& name : drop.names) {
    if (drop.if_exists && !database.catalog.find(name.text)) continue;
    auto tensor = database.tensor(name);
    const auto is_same = [&](const TensorInfo& other) { return other.name == tensor.name; };
    const bool twice = std::any_of(tensors.begin(), tensors.end(), is_same);
    if (twice && !drop.if_exists)
      throw Error(ErrorKind::UnknownName, "there is no tensor " + tensor.name + " any more", name.span,
                  "it is given twice");
    if (!twice) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void drop_tensors(const ast::DropTensor& drop, SessionState& session) {
  CHECK(!drop.names.empty(), "a DROP names what it drops");
  auto& database = session.database;
  SqliteTransaction transaction(database.connection());
  ViewsOfDropped views(session, drop.behavior);
  for (const auto& tensor : tensors_of(drop, database)) database.catalog.drop(tensor);
  views.settle(drop.names.front().span);
  if (drop.behavior == ast::DropBehavior::Cascade) forget_what_is_missing(database.connection());
  transaction.commit();
}

/// "coordinates 12, dense 3"; NULL if it is not known.
Cell formats_text(const TensorSummary& summary) {
  if (!summary.stored_cells) return std::monostate{};
  std::string text;
  for (const auto& [format, tiles] : summary.formats)
    text += (text.empty() ? "" : ", ") + std::string(name_of(format)) + " " + std::to_string(tiles);
  return text;
}

/// "7 cells; i: 3 indices, 4 cells of one; j: 5 indices, 2 cells of one"; NULL without statistics.
Cell statistics_text(const TensorInfo& tensor, Catalog& catalog) {
  const auto found = catalog.statistics(tensor);
  if (!found) return std::monostate{};
  const auto whole = [](double count) { return std::to_string(static_cast<std::int64_t>(count)); };
  auto text = std::to_string(found->cells) + " cells";
  for (std::size_t d = 0; d < tensor.labels.size(); ++d)
    text += "; " + tensor.labels[d] + ": " + whole(found->spread[d].indices) + " indices, " +
            whole(found->spread[d].degree) + " cells of one";
  return text;
}

}  // namespace

// If the disk is full, the log cannot grow and the first attempt fails. Once the log is copied into the file, it
// restarts within its existing space, which suffices to mark the pages of the tiles as free.
Result execute_statement(const ast::DropTensor& drop, SessionState& session) {
  auto& database = session.database;
  const auto is_there = [&](const ast::Identifier& name) { return database.catalog.find(name.text).has_value(); };
  if (drop.if_exists && std::none_of(drop.names.begin(), drop.names.end(), is_there))
    return status_result("DROP TENSOR");
  auto& connection = database.connection();
  const bool alone = !connection.in_transaction();
  try {
    drop_tensors(drop, session);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Io || !alone || !connection.all_read_the_last_commit()) throw;
    drop_tensors(drop, session);
  }
  return status_result("DROP TENSOR");
}

Result execute_statement(const ast::ShowTensors&, OpenDatabase& database) {
  std::vector<Row> rows;
  for (const auto& summary : database.catalog.list()) {
    const auto& tensor = summary.info;
    std::string dimensions;
    for (std::size_t d = 0; d < tensor.labels.size(); ++d)
      dimensions += (d == 0 ? "" : ", ") + tensor.labels[d] + " " + std::to_string(tensor.shape()[d]);
    const auto name = tensor.is_temporary() ? tensor.schema + "." + tensor.name : tensor.name;
    rows.push_back({name, std::string(name_of(tensor.type())), dimensions, bracketed(tensor.grid.partition()),
                    tensor.grid.tile_count(), summary.stored_tiles, summary.stored_bytes,
                    static_cast<std::int64_t>(tensor.replicas),
                    summary.stored_cells ? Cell(*summary.stored_cells) : Cell(std::monostate{}), formats_text(summary),
                    statistics_text(tensor, database.catalog)});
  }
  return listed_result({{"tensor", ColumnType::Text},
                        {"type", ColumnType::Text},
                        {"dimensions", ColumnType::Text},
                        {"partition", ColumnType::Text},
                        {"tiles", ColumnType::Integer},
                        {"stored_tiles", ColumnType::Integer},
                        {"stored_bytes", ColumnType::Integer},
                        {"replicas", ColumnType::Integer},
                        {"stored_cells", ColumnType::Integer},
                        {"formats", ColumnType::Text},
                        {"statistics", ColumnType::Text}},
                       std::move(rows));
}

Result execute_statement(const ast::Describe& describe, SessionState& session) {
  auto& database = session.database;
  if (const auto* attached = database.attached.find(describe.name.text))
    return description(attached->labels(), attached->grid(), attached->dtype(), 0, {});
  if (!database.catalog.find(describe.name.text)) {
    if (auto table = table_description(describe.name.text, session)) return std::move(*table);
  }
  const auto tensor = database.tensor(describe.name);
  return description(tensor.labels, tensor.grid, tensor.type(), tensor.replicas, tensor.names);
}

}  // namespace eindb
