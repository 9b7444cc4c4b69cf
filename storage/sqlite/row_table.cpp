#include "storage/sqlite/row_table.hpp"

#include <sqlite3.h>

#include <memory>
#include <utility>

#include "common/check.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/sqlite/sqlite_destructors.hpp"

namespace eindb {
namespace row_tables {  // names that other virtual tables have, too
namespace {

/// The module's user data.
struct Definition {
  SqliteConnection& connection;
  RowTable table;

  std::size_t row_count() const { return table.values.size() / table.columns.size(); }
};
using Shared = std::shared_ptr<const Definition>;

struct Table : sqlite3_vtab {
  explicit Table(Shared made_of) : sqlite3_vtab{}, definition(std::move(made_of)) {}
  Shared definition;
};

struct Cursor : sqlite3_vtab_cursor {
  explicit Cursor(Shared of) : sqlite3_vtab_cursor{}, definition(std::move(of)) {}
  Shared definition;
  std::size_t row = 0;
};

Cursor& cursor_of(sqlite3_vtab_cursor* base) { return *static_cast<Cursor*>(base); }

std::string declaration(const RowTable& table) {
  std::string sql = "CREATE TABLE x(";
  for (std::size_t n = 0; n < table.columns.size(); ++n)
    sql += (n == 0 ? "" : ", ") + quote_identifier(table.columns[n].name) + " " + table.columns[n].type;
  return sql + ")";
}

int connect(sqlite3* handle, void* aux, int, const char* const*, sqlite3_vtab** result, char**) noexcept {
  const auto& definition = *static_cast<const Shared*>(aux);
  try {
    const int code = sqlite3_declare_vtab(handle, declaration(definition->table).c_str());
    if (code != SQLITE_OK) return code;
    *result = new Table(definition);
    return SQLITE_OK;
  } catch (...) {
    definition->connection.keep_failure(std::current_exception());
    return SQLITE_ERROR;
  }
}

int disconnect(sqlite3_vtab* table) noexcept {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab* base, sqlite3_index_info* info) noexcept {
  const auto rows = static_cast<const Table*>(base)->definition->row_count();
  info->estimatedRows = static_cast<sqlite3_int64>(rows);
  info->estimatedCost = static_cast<double>(rows) + 1;
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab* base, sqlite3_vtab_cursor** result) noexcept {
  const auto& definition = static_cast<const Table*>(base)->definition;
  try {
    *result = new Cursor(definition);
    return SQLITE_OK;
  } catch (...) {
    return SQLITE_NOMEM;
  }
}

int close_cursor(sqlite3_vtab_cursor* cursor) noexcept {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value**) noexcept {
  cursor_of(base).row = 0;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* base) noexcept {
  ++cursor_of(base).row;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* base) noexcept {
  const auto& cursor = cursor_of(base);
  return cursor.row < cursor.definition->row_count() ? 0 : 1;
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) noexcept {
  const auto& cursor = cursor_of(base);
  const auto& table = cursor.definition->table;
  const auto& value = table.values[cursor.row * table.columns.size() + static_cast<std::size_t>(number)];
  if (const auto* integer = std::get_if<std::int64_t>(&value)) sqlite3_result_int64(context, *integer);
  else if (const auto* real = std::get_if<double>(&value)) sqlite3_result_double(context, *real);
  else if (const auto* text = std::get_if<KeptText>(&value))
    sqlite3_result_text64(context, text->data(), text->size(), kTransient, SQLITE_UTF8);
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* result) noexcept {
  *result = static_cast<sqlite3_int64>(cursor_of(base).row) + 1;
  return SQLITE_OK;
}

constexpr sqlite3_module make_module() {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xCreate = nullptr;  // eponymous only
  module.xConnect = &connect;
  module.xDisconnect = &disconnect;
  module.xBestIndex = &best_index;
  module.xOpen = &open_cursor;
  module.xClose = &close_cursor;
  module.xFilter = &filter;
  module.xNext = &next;
  module.xEof = &at_end;
  module.xColumn = &column;
  module.xRowid = &rowid;
  return module;
}
constexpr sqlite3_module kModule = make_module();

}  // namespace
}  // namespace row_tables

VisibleRows::VisibleRows(SqliteConnection& connection, RowTable table) : connection_(connection), name_(table.name) {
  using row_tables::Definition;
  using row_tables::kModule;
  using Shared = row_tables::Shared;
  CHECK(!table.columns.empty() && table.values.size() % table.columns.size() == 0, "rows have a value for each column");
  auto definition =
      std::make_unique<Shared>(std::make_shared<const Definition>(Definition{connection, std::move(table)}));
  // SQLite calls the destructor even if the call fails.
  const int code = sqlite3_create_module_v2(connection.handle(), name_.c_str(), &kModule, definition.release(),
                                            [](void* aux) { delete static_cast<Shared*>(aux); });
  if (code != SQLITE_OK) connection.fail(code);
}

VisibleRows::~VisibleRows() {
  sqlite3_create_module_v2(connection_.handle(), name_.c_str(), nullptr, nullptr, nullptr);
}

}  // namespace eindb
