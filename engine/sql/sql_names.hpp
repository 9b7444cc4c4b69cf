#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sql_types/sql_types.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// Types of what names of SQL stand for: columns of tables, views and tensors that SQLite knows, and functions that
/// front ends added. Looked up once, as long as the schema stays. Threads: as the connection, which must outlive it.
class KnownNames {
 public:
  explicit KnownNames(SqliteConnection& connection) : connection_(connection) {}

  /// `declared` as in a CREATE TABLE; empty: it differs.
  void add_function(std::string_view name, std::string_view declared);
  /// For infer_types(). Refers to this object.
  SqlNames names();
  /// Forgets what was looked up.
  void clear() { tables_.clear(); }

 private:
  using Columns = std::vector<TypedColumn>;

  std::optional<Columns> columns(const std::string& schema, const std::string& table);
  Columns look_up(const std::string& schema, const std::string& table);
  void infer_view(const std::string& schema, const std::string& view, Columns& columns);

  SqliteConnection& connection_;
  std::map<std::string, ValueType> functions_;            // by name in lower case
  std::map<std::string, std::optional<Columns>> tables_;  // by schema and name in lower case
  int views_ = 0;                                         // that are being looked at, one inside the other
};

}  // namespace eindb
