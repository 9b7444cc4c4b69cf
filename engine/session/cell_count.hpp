#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eindb {

struct OpenDatabase;

/// SELECT COUNT(*) FROM A and nothing else: of a tensor the answer follows from its shape, and a scan of 10^18 cells
/// that are zero would never end.
struct CellCount {
  std::string table;   ///< as it is written, without quotes
  std::string column;  ///< what the column of the result is called

  /// SQL that gives the same of a tensor.
  std::string sql() const;
};

/// The count that the SQL asks for; nullopt if the SQL is anything but a count of cells.
std::optional<CellCount> cell_count(std::string_view sql);

/// Makes known to SQL of the database what CellCount::sql() calls. The database outlives its connection.
void add_cell_count(OpenDatabase& database);

}  // namespace eindb
