#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/tile_reader.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// A tensor as SQL sees it: a read-only table of scalars with a row for every cell, absent tiles included.
///
/// Columns are one INTEGER per label, named as column_names() says with `val` reserved, then `val`: REAL for FLOAT32
/// and FLOAT64 (SQLite knows no NaN: it becomes NULL), INTEGER for INT64. For complex types val is the number as text,
/// and two hidden columns `re` and `im` give its parts as REAL. The rowid is the row-major number of the cell. Rows
/// come tile by tile, row-major within each, unless ORDER BY or GROUP BY asks for an order of labels that can be had as
/// cheaply.
struct TensorTable {
  std::string name;
  std::vector<std::string> labels;
  DType dtype = DType::Float64;
  TileGrid grid;
  std::shared_ptr<TileReader> tiles;
};

/// Makes a TensorTable visible to SQL on a connection, as an eponymous virtual table, for the life of this object.
/// An ordinary table or view of the same name hides it; it hides a module of SQLite of the same name. Statements that
/// are compiled already keep the table until they are gone. The connection must outlive it. Threads: as the connection.
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

}  // namespace eindb
