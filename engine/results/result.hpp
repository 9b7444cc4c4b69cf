#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "executor/tile_buffer.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Any: values of SQL whose type is not known before they are there. Booleans are integers, blobs are texts.
enum class ColumnType : std::uint8_t { Integer, Float32, Float64, Complex64, Complex128, Text, Boolean, Blob, Any };

constexpr bool is_complex(ColumnType type) { return type == ColumnType::Complex64 || type == ColumnType::Complex128; }

struct Column {
  std::string name;
  ColumnType type = ColumnType::Any;
  std::string declared_type = {};  ///< of SQL that shows a table's column as it is: the type in its CREATE TABLE
};

/// One value of a row; monostate is SQL's NULL. FLOAT32 values stay float, so that they print shortest.
using Cell =
    std::variant<std::monostate, std::int64_t, float, double, std::complex<float>, std::complex<double>, std::string>;
using Row = std::vector<Cell>;

/// A finished tensor relation: its tiles in memory, or in a scratch file as far as the memory limit is too small.
/// Thread-safe.
struct TensorRelation {
  std::string name;
  std::vector<std::string> labels;
  DType dtype = DType::Float64;
  TileGrid grid;
  std::shared_ptr<BufferedTiles> tiles;

  /// Null for all zero. Throws Error where it cannot be brought back to memory.
  TilePtr tile(std::int64_t tile_id) const { return tiles->get(tile_id); }
};

/// Gives rows one at a time. Not thread-safe; must not outlive its session.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Fills `row` and returns true, or returns false after the last one. Throws Error.
  virtual bool next(Row& row) = 0;
};

/// What a statement gives back: rows (with columns), or none; a status such as "CREATE TENSOR"; and for an EINSUM
/// query the tensor itself, which the rows are read from.
struct Result {
  std::vector<Column> columns;
  std::unique_ptr<RowSource> rows;  ///< null exactly if columns is empty
  std::string status;
  /// Rows that INSERT, UPDATE or DELETE of SQL changed; cells that UPDATE TENSOR or INSERT INTO TENSOR did.
  std::int64_t rows_changed = 0;
  std::shared_ptr<const TensorRelation> tensor;
};

}  // namespace eindb
