#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eindb {

struct OpenDatabase;

/// SELECT COUNT(*) FROM A, perhaps AS b, and nothing else. For a tensor the answer follows from its shape, while a scan
/// of 10^18 zero cells would never end.
struct CellCount {
  std::string table;   ///< as written, without quotes
  std::string column;  ///< name of the result's column

  /// SQL that computes the count of a tensor from its shape.
  std::string sql() const;
};

/// The count that the SQL asks for; nullopt if the SQL is anything but a count of cells.
std::optional<CellCount> cell_count(std::string_view sql);

/// Adds the function that CellCount::sql() calls to the database's SQL. The database must outlive its connection.
void add_cell_count(OpenDatabase& database);

}  // namespace eindb
