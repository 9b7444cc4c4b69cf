#include "catalog/macro_catalog.hpp"

#include "common/check.hpp"

namespace eindb {

bool MacroCatalog::exists() { return connection_.has_table("eindb_macros", {"name", "definition"}); }

std::optional<StoredMacro> MacroCatalog::find(std::string_view name) {
  if (!exists()) return std::nullopt;
  auto select =
      connection_.prepare("SELECT name, definition FROM main.eindb_macros WHERE name = ? COLLATE NOCASE LIMIT 1");
  select.bind(1, name);
  if (!select.step()) return std::nullopt;
  return StoredMacro{select.text(0), select.text(1)};
}

std::vector<StoredMacro> MacroCatalog::list() {
  std::vector<StoredMacro> macros;
  if (!exists()) return macros;
  auto select = connection_.prepare("SELECT name, definition FROM main.eindb_macros ORDER BY rowid");
  while (select.step()) macros.push_back({select.text(0), select.text(1)});
  return macros;
}

void MacroCatalog::put(const StoredMacro& macro) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  CHECK(macro.definition.starts_with('(') || macro.is_aggregate(),
        "the definition of a macro begins with its parameters");
  connection_.execute(
      "CREATE TABLE IF NOT EXISTS main.eindb_macros ("
      "name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, definition TEXT NOT NULL)");
  // Overwrites in place to keep the order, since macros created later may call it.
  connection_
      .prepare(
          "INSERT INTO main.eindb_macros VALUES (?, ?)"
          " ON CONFLICT (name) DO UPDATE SET name = excluded.name, definition = excluded.definition")
      .bind(1, macro.name)
      .bind(2, macro.definition)
      .run();
}

bool MacroCatalog::drop(std::string_view name) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (!find(name)) return false;
  connection_.prepare("DELETE FROM main.eindb_macros WHERE name = ? COLLATE NOCASE").bind(1, name).run();
  return true;
}

}  // namespace eindb
