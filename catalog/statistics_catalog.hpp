#pragma once

#include <cstdint>
#include <optional>

#include "catalog/tensor_info.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tensor/cell_spread.hpp"

namespace eindb {

/// The cells of a tensor when its statistics were made (ANALYZE TENSOR). Plans alone depend on them: the tensor may
/// have changed since.
struct TensorStatistics {
  std::int64_t cells = 0;         ///< those that were not zero
  std::optional<double> sampled;  ///< what sampled_cells() said of the same cells, to notice that there are others now
  CellSpread spread;              ///< of every dimension
};

/// The statistics of tensors, in tables of the schema that has the tensors:
///
///     eindb_statistics(tensor_id INTEGER PRIMARY KEY, cells, sampled)
///     eindb_degrees(tensor_id, position, indices, degree)
///
/// Rows may hold anything, as the file may come from anywhere: what cannot be true of the tensor counts as absent.
/// Changes happen inside the caller's SqliteTransaction. Threads: like its connection, which must outlive it.
class StatisticsCatalog {
 public:
  explicit StatisticsCatalog(SqliteConnection& connection) : connection_(connection) {}

  /// Makes the tables if they are not there.
  void put(const TensorInfo& info, const TensorStatistics& statistics);
  /// Call where the tables are there.
  std::optional<TensorStatistics> find(const TensorInfo& info);
  /// Call when a tensor is dropped, where the tables are there.
  void forget(const TensorInfo& info);

 private:
  SqliteConnection& connection_;
};

}  // namespace eindb
