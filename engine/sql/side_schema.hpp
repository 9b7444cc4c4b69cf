#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace eindb {

class SqliteConnection;

/// In-memory tables of a front end that SQL reads beside the database's. They present the database to clients in the
/// terms of another database system.
struct SideSchema {
  std::string name;  ///< name of the schema in SQL: "pg_catalog"
  /// SQL that creates its tables if they do not exist, and fills them. It reads the database's tables, including
  /// eindb's own, and runs again after the database has changed.
  std::string script;
};

/// The side schemas that a session's SQL sees. Used by the session's thread.
class SideSchemas {
 public:
  /// Makes the schema visible, or updates it. Only compares counters if nothing has changed. A transaction may be open;
  /// if it is rolled back, the next call restores the tables. `before` is called before tables are filled: SQLite looks
  /// up the columns of views only among the tables that it knows.
  void show(const SideSchema& schema, SqliteConnection& connection, const std::function<void()>& before);

 private:
  struct Version {
    std::uint64_t schema = 0;
    std::uint64_t data = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };
  static Version version_of(SqliteConnection& connection);

  std::map<std::string, Version> filled_;  // the state each schema was filled from, by name
};

}  // namespace eindb
