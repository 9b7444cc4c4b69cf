#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/table_rights.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// The rights that users were granted on tables, views and tensors, in a table of the database:
///
///     eindb_grants(object TEXT COLLATE NOCASE, grantee TEXT COLLATE NOCASE, rights INTEGER)
///
/// Objects have names of one namespace. A database may come from anywhere: an invalid row grants nothing. Changes
/// happen inside the caller's SqliteTransaction. Threads: like its connection, which must outlive it.
class GrantCatalog {
 public:
  explicit GrantCatalog(SqliteConnection& connection) : connection_(connection) {}

  bool exists();
  void grant(const std::string& object, const std::string& user, Rights rights);
  void revoke(const std::string& object, const std::string& user, Rights rights);
  /// The rights of a user, for all tables, views and tensors that there are.
  TableRights rights_of(const std::string& user);
  /// The rights granted on one table, by user.
  std::vector<TableGrant> grants_on(const std::string& object);
  /// Names of all tables and views of users, and of all tensors.
  std::vector<std::string> tables();
  std::vector<std::string> tensors();

  /// Call when the object got another name, so that its grants stay with it.
  void rename(const std::string& object, const std::string& new_name);
  /// Call when a tensor or a user is dropped: another one of the name has none of its grants.
  void forget(const std::string& object);
  void forget_user(const std::string& user);
  /// Removes the grants on tables and views that are no more.
  void forget_missing();

 private:
  Rights find(const std::string& object, const std::string& user);
  void put(const std::string& object, const std::string& user, Rights rights);
  std::vector<std::string> names(const std::string& sql);
  bool has_tensors();

  SqliteConnection& connection_;
};

}  // namespace eindb
