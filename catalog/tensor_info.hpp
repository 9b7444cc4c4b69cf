#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/tiles/tile_store.hpp"
#include "tensor/index_names.hpp"
#include "tensor/partition.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// The catalog's entry of one tensor: a value that is valid for the catalog version at which it was read.
struct TensorInfo {
  std::int64_t id = 0;  ///< in its schema
  /// By which statements find it, in the case given at creation: A, main.A where A is hidden, or other.A in the
  /// database that is attached as other.
  std::string name;
  DType dtype = DType::Float64;     ///< of its values
  std::vector<std::string> labels;  ///< one per dimension
  TileGrid grid;
  int replicas = 0;  ///< copies of each tile at workers; 0: tiles are in the database's own file
  std::string schema = std::string(kMainSchema);  ///< of SQLite
  bool is_qualified = false;                      ///< the name begins with the schema
  Encoding encoding = Encoding::Plain;            ///< of its stored tiles
  FormatChoice formats = FormatChoice::Auto;      ///< in which this session writes tiles
  DimensionNames names = {};                      ///< of its indices

  /// The name in the schema.
  std::string own_name() const { return is_qualified ? name.substr(schema.size() + 1) : name; }
  /// Whether the tensor is this session's alone, and ends with it.
  bool is_temporary() const { return schema == kTemporarySchema; }
  /// Whether the tensor is of an attached database, which statements only read.
  bool is_foreign() const { return schema != kMainSchema && !is_temporary(); }
  bool is_sharded() const { return replicas > 0; }
  const Shape& shape() const { return grid.shape(); }
  /// By which it is declared and shown.
  StoredType type() const { return {dtype, encoding}; }
  /// Bytes of all elements in memory, including zeros.
  std::int64_t dense_bytes() const { return shape().element_count() * static_cast<std::int64_t>(size_of(dtype)); }
  /// The storage of its tiles.
  TileStore store() const { return {own_name(), labels, type(), grid, replicas, schema, formats}; }
};

/// A tensor and its size on disk.
struct TensorSummary {
  TensorInfo info;
  std::int64_t stored_tiles = 0;  ///< the non-zero ones, out of info.grid.tile_count()
  std::int64_t stored_bytes = 0;
  /// The cells in them, of dense tiles all; not known of tiles at workers that were written before references told it.
  std::optional<std::int64_t> stored_cells = {};
  /// How many tiles are in which format, for those that occur and whose format is known.
  std::map<TileFormat, std::int64_t> formats = {};
};

/// Longest name of a tensor or a label, in bytes.
inline constexpr std::size_t kMaxNameLength = 128;

/// Error{Value} unless `name` is a valid tensor name: a non-empty text without zero bytes, at most kMaxNameLength long,
/// that begins with neither eindb_ nor sqlite_.
void check_tensor_name(std::string_view name);
/// Error{Label} unless `label` is a valid name of a dimension: the same rules, but any prefix is allowed.
void check_label_name(std::string_view label);
/// i, j, k, ...: the labels of a tensor given without any.
std::vector<std::string> default_labels(std::size_t rank);
/// Error{Unsupported} or Error{Shape} if no tensor of this shape can be stored.
void check_storable(const Shape& shape, DType dtype);

}  // namespace eindb
