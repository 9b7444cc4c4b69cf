#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/tiles/tile_store.hpp"
#include "tensor/dtype.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// The catalog's entry of one tensor. A value; true for the catalog's version at which it was read.
struct TensorInfo {
  std::int64_t id = 0;
  std::string name;  ///< as it was written when the tensor was made
  DType dtype = DType::Float64;
  std::vector<std::string> labels;  ///< one per dimension
  TileGrid grid;
  int replicas = 0;  ///< copies of each tile at workers; 0: its tiles lie in the database's own file

  bool is_sharded() const { return replicas > 0; }
  const Shape& shape() const { return grid.shape(); }
  /// Bytes of all elements, zeros included.
  std::int64_t dense_bytes() const { return shape().element_count() * static_cast<std::int64_t>(size_of(dtype)); }
  /// Where its tiles lie.
  TileStore store() const { return {name, labels, dtype, grid, replicas}; }
};

/// A tensor and what it takes on disk.
struct TensorSummary {
  TensorInfo info;
  std::int64_t stored_tiles = 0;  ///< those that are not all zero, of info.grid.tile_count()
  std::int64_t stored_bytes = 0;
};

/// Longest name of a tensor or a label, in bytes.
inline constexpr std::size_t kMaxNameLength = 128;

/// Error{Value} unless `name` may name a tensor: any text without a zero byte, not empty, not longer than
/// kMaxNameLength, and beginning with neither eindb_ nor sqlite_.
void check_tensor_name(std::string_view name);
/// Error{Label} unless `label` may name a dimension: as for tensors, and any prefix will do.
void check_label_name(std::string_view label);
/// i, j, k, ...: for a tensor that came without labels.
std::vector<std::string> default_labels(std::size_t rank);
/// Error{Unsupported} or Error{Shape} unless a tensor of this shape can be stored.
void check_storable(const Shape& shape, DType dtype);

}  // namespace eindb
