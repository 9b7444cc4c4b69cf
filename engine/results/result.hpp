#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "executor/result_tiles.hpp"
#include "tensor/index_names.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Any: values of SQL whose type is unknown before they are read. Booleans are integers.
enum class ColumnType : std::uint8_t { Integer, Float32, Float64, Complex64, Complex128, Text, Boolean, Blob, Any };

constexpr bool is_complex(ColumnType type) { return type == ColumnType::Complex64 || type == ColumnType::Complex128; }

struct Column {
  std::string name;
  ColumnType type = ColumnType::Any;
  std::string declared_type = {};  ///< for a column that SQL takes unchanged from a table: the type in its CREATE TABLE
};

/// One value of a row; monostate is SQL's NULL. FLOAT32 values stay float, so that they print shortest.
using Cell = std::variant<std::monostate, std::int64_t, float, double, std::complex<float>, std::complex<double>,
                          std::string, std::vector<std::byte>>;
using Row = std::vector<Cell>;

/// A finished tensor relation. Its tiles are in memory, or in a scratch file if they exceed the memory limit; those of
/// a result that was computed from cells are tiles of cells. Thread-safe.
struct TensorRelation {
  std::string name;
  std::vector<std::string> labels;
  DType dtype = DType::Float64;
  TileGrid grid;
  std::shared_ptr<ResultTiles> tiles;  ///< in tiles of the grid
  DimensionNames names = {};           ///< of its indices

  /// The tile with all values; null if it is all zero. Throws Error if it cannot be read back from the scratch file.
  TilePtr tile(std::int64_t tile_id) const { return tiles->get_values(tile_id); }
};

/// Gives rows one at a time. Not thread-safe; must not outlive its session.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Fills `row` and returns true, or returns false after the last one. Throws Error.
  virtual bool next(Row& row) = 0;
  /// Likewise, where rows are cells of a tensor without those that are +0, at the cost of the tiles that are there.
  /// Other sources give every row.
  virtual bool next_nonzero(Row& row) { return next(row); }
};

/// The result of a statement: rows (with columns) or none, a status such as "CREATE TENSOR", and for an EINSUM query
/// also the tensor that the rows are read from.
struct Result {
  std::vector<Column> columns;
  std::unique_ptr<RowSource> rows;  ///< null exactly if columns is empty
  std::string status;
  /// Rows that INSERT, UPDATE or DELETE changed, or cells that UPDATE TENSOR or INSERT INTO TENSOR changed.
  std::int64_t rows_changed = 0;
  std::shared_ptr<const TensorRelation> tensor;
};

}  // namespace eindb
