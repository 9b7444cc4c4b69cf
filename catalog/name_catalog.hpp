#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/tensor_info.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tensor/index_names.hpp"

namespace eindb {

/// The names of indices of tensors (tensor/index_names), in tables of the schema that has the tensors:
///
///     eindb_axes(tensor_id, position, first, step)            a row for each dimension whose indices have names: those
///                                                             of a calendar, or NULL where they are listed
///     eindb_index_names(tensor_id, position, number, name)    a row for each index of those
///
/// Changes happen inside the caller's SqliteTransaction. Threads: like its connection, which must outlive it.
class NameCatalog {
 public:
  explicit NameCatalog(SqliteConnection& connection) : connection_(connection) {}

  /// Makes the tables if they are not there, and replaces what is there of the tensor.
  void put(const TensorInfo& info);
  /// The names of a tensor, whose own are not read. Call where the tables are there. `fault` is set to the reason if
  /// the rows cannot be the names of its dimensions.
  DimensionNames find(const TensorInfo& info, std::string& fault);
  /// Call when a tensor is dropped, where the tables are there.
  void forget(const TensorInfo& info);

 private:
  std::vector<std::string> read_list(const TensorInfo& info, std::int64_t position);

  SqliteConnection& connection_;
};

}  // namespace eindb
