#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// A macro as it is kept: its text, for the parser to read again.
struct StoredMacro {
  std::string name;
  std::string definition;  ///< "(x, l) AS EXP(x - MAX[l](x))"

  friend bool operator==(const StoredMacro&, const StoredMacro&) = default;
};

/// The user's macros, in a table of the database:
///
///     eindb_macros(name TEXT COLLATE NOCASE PRIMARY KEY, definition TEXT)
///
/// Names match without regard to the case of ASCII letters. A database may come from anywhere: what a definition says
/// is verified when it is parsed. Changes happen inside the caller's SqliteTransaction. Threads: as its connection,
/// which must outlive it.
class MacroCatalog {
 public:
  explicit MacroCatalog(SqliteConnection& connection) : connection_(connection) {}

  std::optional<StoredMacro> find(std::string_view name);
  /// In the order in which they were made.
  std::vector<StoredMacro> list();
  /// In place of the macro of that name, if there is one.
  void put(const StoredMacro& macro);
  /// False if there was none.
  bool drop(std::string_view name);

 private:
  bool exists();

  SqliteConnection& connection_;
};

}  // namespace eindb
