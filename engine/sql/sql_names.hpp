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

/// The types of names in SQL: columns of tables, views and tensors that SQLite knows, and functions that front ends
/// added. Lookups are kept until clear(). Used by the connection's thread; the connection must outlive it.
class KnownNames {
 public:
  explicit KnownNames(SqliteConnection& connection) : connection_(connection) {}

  /// `declared` is a type as in CREATE TABLE; empty if the type varies.
  void add_function(std::string_view name, std::string_view declared);
  /// The text of CREATE VIEW; nullopt if there is no such view.
  std::optional<std::string> view_text(const std::string& schema, const std::string& view);
  /// Lookups for infer_types(); they refer to this object.
  SqlNames names();
  /// The columns of a table or view; nullopt if there is none that SQLite knows.
  std::optional<std::vector<TypedColumn>> columns(const std::string& schema, const std::string& table);
  /// Forgets the lookups.
  void clear() { tables_.clear(); }

 private:
  using Columns = std::vector<TypedColumn>;

  bool definition_has(const std::string& schema, const std::string& table, std::string_view part);
  Columns look_up(const std::string& schema, const std::string& table);
  void infer_view(const std::string& schema, const std::string& view, Columns& columns);

  SqliteConnection& connection_;
  std::map<std::string, ValueType> functions_;            // by name in lower case
  std::map<std::string, std::optional<Columns>> tables_;  // by schema and name in lower case
  std::uint64_t schema_version_ = 0;                      // of the database that the lookups saw
  int views_ = 0;                                         // nesting depth of the views being inspected
};

}  // namespace eindb
