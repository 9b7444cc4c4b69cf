#include "catalog/user_catalog.hpp"

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr const char* kHint = "open a copy of the database that was made before";

}  // namespace

/// False if there is no such table; an error if another object has its name.
bool UserCatalog::has_table(const char* table, std::initializer_list<const char*> columns) {
  if (connection_.has_table(table, columns)) return true;
  auto named = connection_.prepare("SELECT 1 FROM main.sqlite_schema WHERE name = ? COLLATE NOCASE");
  named.bind(1, std::string_view(table));
  if (!named.step()) return false;
  throw Error(ErrorKind::Corrupt, connection_.name() + ": " + table + " is no table of eindb's", std::nullopt, kHint);
}

bool UserCatalog::has_users() { return has_table("eindb_users", {"name", "verifier", "role"}); }

StoredUser UserCatalog::user_of(const SqliteStatement& row) const {
  StoredUser user{.name = row.text(0), .verifier = row.text(1)};
  const auto role = parse_user_role(row.text(2));
  if (!role)
    throw Error(ErrorKind::Corrupt, connection_.name() + ": a user has a role that is none", std::nullopt, kHint);
  user.role = *role;
  return user;
}

bool UserCatalog::empty() {
  return !has_users() || connection_.query_integer("SELECT COUNT(*) FROM main.eindb_users") == 0;
}

std::optional<StoredUser> UserCatalog::find(std::string_view name) {
  if (!has_users()) return std::nullopt;
  auto select =
      connection_.prepare("SELECT name, verifier, role FROM main.eindb_users WHERE name = ? COLLATE NOCASE LIMIT 1");
  select.bind(1, name);
  if (!select.step()) return std::nullopt;
  return user_of(select);
}

std::vector<StoredUser> UserCatalog::list() {
  std::vector<StoredUser> users;
  if (!has_users()) return users;
  auto select = connection_.prepare("SELECT name, verifier, role FROM main.eindb_users ORDER BY rowid");
  while (select.step()) users.push_back(user_of(select));
  return users;
}

void UserCatalog::make_tables() {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  connection_.execute(
      "CREATE TABLE IF NOT EXISTS main.eindb_users ("
      "name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, verifier TEXT NOT NULL, role TEXT NOT NULL);"
      "CREATE TABLE IF NOT EXISTS main.eindb_secrets (name TEXT PRIMARY KEY NOT NULL, secret BLOB NOT NULL)");
}

void UserCatalog::put(const StoredUser& user) {
  make_tables();
  connection_
      .prepare(
          "INSERT INTO main.eindb_users VALUES (?, ?, ?)"
          " ON CONFLICT (name) DO UPDATE SET verifier = excluded.verifier, role = excluded.role")
      .bind(1, user.name)
      .bind(2, user.verifier)
      .bind(3, describe(user.role))
      .run();
}

bool UserCatalog::drop(std::string_view name) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (!find(name)) return false;
  connection_.prepare("DELETE FROM main.eindb_users WHERE name = ? COLLATE NOCASE").bind(1, name).run();
  return true;
}

std::optional<std::string> UserCatalog::secret() {
  if (!has_table("eindb_secrets", {"name", "secret"})) return std::nullopt;
  auto select = connection_.prepare("SELECT secret FROM main.eindb_secrets WHERE name = 'unknown users'");
  if (!select.step()) return std::nullopt;
  const auto bytes = select.blob(0);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void UserCatalog::set_secret(std::string_view secret) {
  CHECK(!secret.empty(), "the salts of unknown users are derived from what nobody knows");
  make_tables();
  connection_.prepare("INSERT OR REPLACE INTO main.eindb_secrets VALUES ('unknown users', ?)")
      .bind(1, std::as_bytes(std::span(secret)))
      .run();
}

}  // namespace eindb
