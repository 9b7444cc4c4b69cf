#include "catalog/grant_catalog.hpp"

#include "common/check.hpp"

namespace eindb {

bool GrantCatalog::exists() { return connection_.has_table("eindb_grants", {"object", "grantee", "rights"}); }
bool GrantCatalog::has_tensors() { return connection_.has_table("eindb_tensors", {"name"}); }

Rights GrantCatalog::find(const std::string& object, const std::string& user) {
  if (!exists()) return kNoRights;
  auto select = connection_.prepare("SELECT rights FROM main.eindb_grants WHERE object = ? AND grantee = ?");
  select.bind(1, object).bind(2, user);
  return select.step() ? static_cast<Rights>(select.integer(0) & kAllRights) : kNoRights;
}

void GrantCatalog::put(const std::string& object, const std::string& user, Rights rights) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  CHECK((rights & ~kAllRights) == 0, "no rights are kept but those that there are");
  connection_.execute(
      "CREATE TABLE IF NOT EXISTS main.eindb_grants (object TEXT NOT NULL COLLATE NOCASE,"
      " grantee TEXT NOT NULL COLLATE NOCASE, rights INTEGER NOT NULL, PRIMARY KEY (object, grantee))");
  const auto* change = rights == kNoRights ? "DELETE FROM main.eindb_grants WHERE object = ? AND grantee = ?"
                                           : "INSERT OR REPLACE INTO main.eindb_grants VALUES (?, ?, ?)";
  auto statement = connection_.prepare(change);
  statement.bind(1, object).bind(2, user);
  if (rights != kNoRights) statement.bind(3, std::int64_t{rights});
  statement.run();
}

void GrantCatalog::grant(const std::string& object, const std::string& user, Rights rights) {
  put(object, user, static_cast<Rights>(find(object, user) | rights));
}

void GrantCatalog::revoke(const std::string& object, const std::string& user, Rights rights) {
  const auto before = find(object, user);
  if (before != kNoRights) put(object, user, static_cast<Rights>(before & ~rights));
}

TableRights GrantCatalog::rights_of(const std::string& user) {
  TableRights rights(user);
  // eindb's own tables hold tiles of tensors, and SQLite's hold samples of rows: nothing of them is granted.
  for (const auto& name : names("SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view')"))
    rights.set(name, kNoRights);
  for (const auto& name : tensors()) rights.set(name, kNoRights);
  if (!exists()) return rights;
  auto select = connection_.prepare(
      "SELECT object, rights FROM main.eindb_grants WHERE grantee = ? AND typeof(rights) = 'integer'");
  select.bind(1, user);
  while (select.step())
    if (rights.protects(select.text(0)))
      rights.set(select.text(0), static_cast<Rights>(select.integer(1) & kAllRights));
  return rights;
}

std::vector<TableGrant> GrantCatalog::grants_on(const std::string& object) {
  std::vector<TableGrant> grants;
  if (!exists()) return grants;
  auto select = connection_.prepare("SELECT grantee, rights FROM main.eindb_grants WHERE object = ? ORDER BY grantee");
  select.bind(1, object);
  while (select.step()) grants.push_back({select.text(0), static_cast<Rights>(select.integer(1) & kAllRights)});
  return grants;
}

std::vector<std::string> GrantCatalog::names(const std::string& sql) {
  std::vector<std::string> found;
  auto select = connection_.prepare(sql);
  while (select.step()) found.push_back(select.text(0));
  return found;
}

std::vector<std::string> GrantCatalog::tables() {
  return names(
      "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'eindb\\_%' ESCAPE '\\'"
      " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name");
}

std::vector<std::string> GrantCatalog::tensors() {
  if (!has_tensors()) return {};
  return names("SELECT name FROM main.eindb_tensors WHERE name NOT LIKE 'eindb\\_%' ESCAPE '\\' ORDER BY name");
}

void GrantCatalog::rename(const std::string& object, const std::string& new_name) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (!exists()) return;
  connection_.prepare("UPDATE main.eindb_grants SET object = ? WHERE object = ?")
      .bind(1, new_name)
      .bind(2, object)
      .run();
}

void GrantCatalog::forget(const std::string& object) {
  if (exists()) connection_.prepare("DELETE FROM main.eindb_grants WHERE object = ?").bind(1, object).run();
}

void GrantCatalog::forget_user(const std::string& user) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (exists()) connection_.prepare("DELETE FROM main.eindb_grants WHERE grantee = ?").bind(1, user).run();
}

// Tensors are dropped by the catalog, which forgets their grants itself.
void GrantCatalog::forget_missing() {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (!exists()) return;
  connection_.execute(
      "DELETE FROM main.eindb_grants WHERE object NOT IN (SELECT name COLLATE NOCASE FROM main.sqlite_schema)" +
      std::string(has_tensors() ? " AND object NOT IN (SELECT name COLLATE NOCASE FROM main.eindb_tensors)" : ""));
}

}  // namespace eindb
