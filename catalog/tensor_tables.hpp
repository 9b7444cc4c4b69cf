#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "catalog/catalog.hpp"
#include "storage/cells/tensor_table.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// The tensors of a catalog as tables of SQL on the catalog's connection.
///
/// A tensor becomes visible when a statement first needs it: thousands of others cost nothing. So whoever compiles SQL
/// calls refresh() before, show() for the name that SQLite did not find, and tries again:
///
///     SELECT * FROM A   ->  no such table: A   ->  show("A")   ->  SELECT * FROM A
///
/// This also finds the tensors that views and triggers name. Threads: as the connection, which must outlive it.
class TensorTables {
 public:
  TensorTables(SqliteConnection& connection, Catalog& catalog) : connection_(connection), catalog_(catalog) {}

  /// Bytes of tiles that each table may keep while it is scanned; for tables shown from now on.
  void keep(std::int64_t bytes) { kept_bytes_ = bytes; }

  /// Forgets all tables if the catalog has changed since they were shown, by whomever. A change that another program
  /// makes after this is found when a scan begins: Error{Busy}, unless the tensor is the same as before.
  void refresh();
  /// Another number whenever tables were forgotten: statements that were compiled before may read what is gone.
  std::uint64_t generation() const { return generation_; }
  /// Makes the tensor visible. False if there is no such tensor, or if it is visible already.
  bool show(std::string_view name);
  /// Whether SQLite itself has a table of this name, in lower case: a table function, or eindb's at the first call.
  bool names_module(const std::string& folded);

 private:
  void verify(const TensorInfo& info);

  SqliteConnection& connection_;
  Catalog& catalog_;
  std::int64_t kept_bytes_ = 0;
  std::uint64_t version_ = 0;  // of the catalog when the tables were shown
  std::uint64_t generation_ = 0;
  std::map<std::string, VisibleTable> tables_;    // by name in lower case
  std::optional<std::set<std::string>> modules_;  // those of SQLite itself
};

}  // namespace eindb
