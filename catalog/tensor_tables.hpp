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

/// The tensors of a catalog as SQL tables on the catalog's connection.
///
/// A tensor becomes visible when a statement first needs it, so thousands of others cost nothing. The compiler of SQL
/// calls refresh() first, calls show() for each name that SQLite did not find, and tries again:
///
///     SELECT * FROM A   ->  no such table: A   ->  show("A")   ->  SELECT * FROM A
///
/// This also finds tensors named in views and triggers. Temporary tensors need no call: the catalog makes virtual
/// tables of them in SQLite's schema `temp`, whose module is registered here. SQLite finds the tables shown here in any
/// schema, so those of attached databases have the names "other.A", which take the place of other.A in SQL
/// (engine/sql/attached_tables). Threads: like the connection, which must
/// outlive it.
class TensorTables {
 public:
  TensorTables(SqliteConnection& connection, Catalog& catalog);

  /// Bytes of tiles that each table may cache during scans; applies to tables shown later.
  void keep(std::int64_t bytes) { kept_bytes_ = bytes; }

  /// Drops all tables if the catalog has changed since they were shown. A later change by another program is detected
  /// at the start of a scan: Error{Busy}, unless the tensor is unchanged.
  void refresh();
  /// Changes whenever tables are dropped: statements compiled before may refer to dropped tables.
  std::uint64_t generation() const { return generation_; }
  /// Makes the tensor visible; that of an attached database by its name with the schema alone. False if it does not
  /// exist or is visible already.
  bool show(std::string_view name);
  /// Whether a tensor of complex numbers has been made visible.
  bool shows_complex() const { return shows_complex_ || temporary_complex_; }
  /// Whether SQLite itself has a table of this lower-case name, such as a table function. Includes eindb's tables shown
  /// before the first call.
  bool names_module(const std::string& folded);

 private:
  void verify(const TensorInfo& info);
  TensorTable temporary_table(const std::string& own_name);

  SqliteConnection& connection_;
  Catalog& catalog_;
  std::int64_t kept_bytes_ = std::int64_t{8} << 20U;
  std::uint64_t version_ = 0;  // of the catalog when the tables were shown
  std::uint64_t generation_ = 0;
  bool shows_complex_ = false;
  bool temporary_complex_ = false;                // there has been a temporary tensor of complex numbers
  std::map<std::string, VisibleTable> tables_;    // by lower-case name
  std::optional<std::set<std::string>> modules_;  // the modules of SQLite itself
  TemporaryTables temporary_;
};

}  // namespace eindb
