#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/user_role.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A stored user.
struct StoredUser {
  std::string name;
  std::string verifier;  ///< text of a ScramVerifier
  UserRole role = UserRole::ReadWrite;

  friend bool operator==(const StoredUser&, const StoredUser&) = default;
};

/// The users of the database and a secret, in tables that users' SQL cannot even read
/// (storage/sqlite/sqlite_authorizer.hpp):
///
///     eindb_users(name TEXT COLLATE NOCASE PRIMARY KEY, verifier TEXT, role TEXT)
///     eindb_secrets(name TEXT PRIMARY KEY, secret BLOB)         the one row: 'unknown users'
///
/// Names ignore the case of ASCII letters. A database may come from anywhere: invalid tables are Error{Corrupt}, so
/// that damage never reads as "no users". Changes happen inside the caller's SqliteTransaction. Threads: like its
/// connection, which must outlive it.
class UserCatalog {
 public:
  explicit UserCatalog(SqliteConnection& connection) : connection_(connection) {}

  bool empty();
  std::optional<StoredUser> find(std::string_view name);
  /// In the order of creation.
  std::vector<StoredUser> list();
  /// Replaces the user of that name, if there is one.
  void put(const StoredUser& user);
  /// False if there was no such user.
  bool drop(std::string_view name);

  /// Bytes from which salts for unknown users are derived; nullopt before set_secret().
  std::optional<std::string> secret();
  void set_secret(std::string_view secret);

 private:
  bool has_table(const char* table, std::initializer_list<const char*> columns);
  bool has_users();
  void make_tables();
  StoredUser user_of(const SqliteStatement& row) const;

  SqliteConnection& connection_;
};

}  // namespace eindb
