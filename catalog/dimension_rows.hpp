#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/sqlite/sqlite_connection.hpp"
#include "tensor/dtype.hpp"

namespace eindb {

/// One row of eindb_dimensions.
struct DimensionRow {
  std::int64_t position;
  std::string label;
  std::int64_t extent;
  std::int64_t parts;
};

/// Those of a tensor, by position; unverified, at most one more than a tensor may have.
std::vector<DimensionRow> read_dimensions(SqliteConnection& connection, std::string_view schema,
                                          std::int64_t tensor_id);

/// The reason why rows cannot be the dimensions of a tensor of `dtype`; empty if they can.
std::string fault_of(const std::vector<DimensionRow>& rows, DType dtype);

/// Likewise of the edges (eindb_edges) of its dimensions, 0 where one has none.
std::string fault_of_edges(const std::vector<std::int64_t>& edges, const std::vector<DimensionRow>& rows, DType dtype);

}  // namespace eindb
