#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/tile_reader.hpp"
#include "tensor/index_names.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// A tensor as an SQL table: read-only, with a row for every cell, those of absent tiles included.
///
/// The columns are one INTEGER per label, or TEXT where its indices have names, which are the values then. They are
/// named by column_names() with `val` reserved. Then comes `val`: REAL for FLOAT32 and
/// FLOAT64 (NaN becomes NULL, as SQLite has no NaN), INTEGER for INT64. For complex types val is the number as text,
/// and two hidden columns `re` and `im` have its parts as REAL. The rowid is the row-major number of the cell. Rows
/// come tile by tile, row-major within each, unless ORDER BY or GROUP BY asks for an order of labels that costs no
/// more.
struct TensorTable {
  std::string name;
  std::vector<std::string> labels;
  DType dtype = DType::Float64;
  TileGrid grid;
  std::shared_ptr<TileReader> tiles;
  DimensionNames names = {};
};

/// Makes a TensorTable visible to SQL on a connection, as an eponymous virtual table, as long as this object exists. It
/// is hidden by an ordinary table or view of the same name, and hides a SQLite module of the same name. Statements
/// already compiled keep the table. The connection must outlive this object. Threads: like the connection.
class VisibleTable {
 public:
  VisibleTable(SqliteConnection& connection, TensorTable table);
  VisibleTable(VisibleTable&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)), name_(std::move(other.name_)) {}
  VisibleTable& operator=(VisibleTable&&) = delete;
  ~VisibleTable();

  const std::string& name() const { return name_; }

 private:
  SqliteConnection* connection_;
  std::string name_;
};

/// The module of TemporaryTables.
inline constexpr std::string_view kTemporaryModule = "eindb_temporary_tensor";

/// The virtual tables that are temporary tensors, each with a row in temp.sqlite_schema, so that SQLite finds them
/// before any other table of their name:
///
///     CREATE VIRTUAL TABLE temp."A" USING eindb_temporary_tensor
///
/// `describe` gives the TensorTable of a name; it is asked whenever SQLite opens the table. The connection must outlive
/// this object, and run no SQL afterwards. Threads: like the connection.
class TemporaryTables {
 public:
  TemporaryTables(SqliteConnection& connection, std::function<TensorTable(const std::string&)> describe);
  TemporaryTables(const TemporaryTables&) = delete;
  TemporaryTables& operator=(const TemporaryTables&) = delete;

  /// The state that SQLite's callbacks are given.
  struct Source {
    SqliteConnection& connection;
    std::function<TensorTable(const std::string&)> describe;
  };

 private:
  std::unique_ptr<Source> source_;
};

}  // namespace eindb
