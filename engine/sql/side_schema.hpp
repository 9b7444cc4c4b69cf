#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace eindb {

class SqliteConnection;
class TensorTables;

/// Tables of a front end's own in memory, which SQL reads beside the database's: what the database looks like to
/// clients that ask in another database's terms.
struct SideSchema {
  std::string name;  ///< as SQL calls it: "pg_catalog"
  /// SQL that makes its tables, unless they are there, and fills them. It reads the database's tables, eindb's too, and
  /// runs again when the database has changed.
  std::string script;
};

/// The side schemas that a session's SQL sees. Threads: as the session.
class SideSchemas {
 public:
  /// Makes the schema visible, or brings it up to date. Nothing but a look at counters if nothing has changed. A
  /// transaction may be open; should it be rolled back, the next call makes good what it took along.
  void show(const SideSchema& schema, SqliteConnection& connection, TensorTables& tensors);

 private:
  struct Version {
    std::uint64_t schema = 0;
    std::uint64_t data = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };
  static Version version_of(SqliteConnection& connection);

  std::map<std::string, Version> filled_;  // by name: what it was filled from
};

}  // namespace eindb
