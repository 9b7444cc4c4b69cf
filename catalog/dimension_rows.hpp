#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/tensor_info.hpp"
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

/// The edges (eindb_edges) of the dimensions of a tensor, 0 where one has none; empty for a tensor that is cut evenly.
/// `fault` is set to the reason if one cannot be an edge of a tensor with `rank` dimensions. Call where the table is
/// there.
std::vector<std::int64_t> read_edges(SqliteConnection& connection, std::string_view schema, std::int64_t tensor_id,
                                     std::size_t rank, std::string& fault);
/// Makes the table of edges if the tensor has some, and it is not there.
void insert_edges(SqliteConnection& connection, const TensorInfo& info);

/// The reason why these cannot be the edges of its dimensions.
std::string fault_of_edges(const std::vector<std::int64_t>& edges, const std::vector<DimensionRow>& rows, DType dtype);

}  // namespace eindb
