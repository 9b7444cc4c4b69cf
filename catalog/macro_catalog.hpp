#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A stored macro or aggregate: its text, which the parser reads again.
struct StoredMacro {
  static constexpr std::string_view kAggregate = "AGGREGATE ";

  std::string name;
  std::string definition;  ///< "(x, l) AS EXP(x - MAX[l](x))", "AGGREGATE (x, y) AS x + y INITIAL 0"

  bool is_aggregate() const { return definition.starts_with(kAggregate); }
  /// The statement that creates it. The name is given as it is to be written.
  std::string creation(const std::string& written_name) const {
    if (!is_aggregate()) return "CREATE MACRO " + written_name + definition;
    return "CREATE AGGREGATE " + written_name + definition.substr(kAggregate.size());
  }

  friend bool operator==(const StoredMacro&, const StoredMacro&) = default;
};

/// The user's macros and aggregates, in a table of the database:
///
///     eindb_macros(name TEXT COLLATE NOCASE PRIMARY KEY, definition TEXT)
///
/// Names ignore the case of ASCII letters. A database may come from anywhere, so a definition is verified when it is
/// parsed. Changes happen inside the caller's SqliteTransaction. Threads: like its connection, which must outlive it.
class MacroCatalog {
 public:
  explicit MacroCatalog(SqliteConnection& connection) : connection_(connection) {}

  std::optional<StoredMacro> find(std::string_view name);
  /// In the order of creation.
  std::vector<StoredMacro> list();
  /// Replaces the macro of that name, if there is one.
  void put(const StoredMacro& macro);
  /// False if there was no such macro.
  bool drop(std::string_view name);

 private:
  bool exists();

  SqliteConnection& connection_;
};

}  // namespace eindb
