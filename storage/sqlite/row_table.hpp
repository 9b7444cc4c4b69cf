#pragma once

#include <string>
#include <vector>

#include "storage/sqlite/kept_value.hpp"

namespace eindb {

class SqliteConnection;

/// Rows in memory as an SQL table, read-only: values row by row, as many as there are columns in each.
struct RowTable {
  struct Column {
    std::string name;
    std::string type;  ///< as in CREATE TABLE
  };
  std::string name;
  std::vector<Column> columns;  ///< at least one, with different names
  KeptList<KeptValue> values;
};

/// Makes a RowTable visible to SQL on a connection, as an eponymous virtual table, as long as this object exists.
/// Statements already compiled keep the table. The connection must outlive this object. Threads: like the connection.
class VisibleRows {
 public:
  VisibleRows(SqliteConnection& connection, RowTable table);
  ~VisibleRows();
  VisibleRows(const VisibleRows&) = delete;
  VisibleRows& operator=(const VisibleRows&) = delete;

 private:
  SqliteConnection& connection_;
  std::string name_;
};

}  // namespace eindb
