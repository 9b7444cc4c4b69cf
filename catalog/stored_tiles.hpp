#pragma once

#include <optional>

#include "catalog/tensor_info.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// What is stored of a tensor, from the heads of rows and the labels of tiles: none is read as a whole. For tensors in
/// the database's file or an attached one, except where it says otherwise.

/// The size on disk, counted over all rows; of a tensor at workers from their references.
TensorSummary count_stored(SqliteConnection& connection, const TensorInfo& info);

/// The share of tiles that are stored, rounded to about a tenth, so that few writes change it. Large grids are sampled.
/// 1 for a tensor of one tile.
double present_share(SqliteConnection& connection, const TensorInfo& info);

/// About how many cells are stored, from the labels of some tiles, rounded so that it rarely changes; nullopt for
/// tensors at workers, small ones, and those of which the first tiles are dense.
std::optional<double> sampled_cells(SqliteConnection& connection, const TensorInfo& info);

}  // namespace eindb
