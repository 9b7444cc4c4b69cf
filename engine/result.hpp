#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

enum class ColumnType : std::uint8_t { Integer, Float32, Float64, Complex64, Complex128, Text, Any };

struct Column {
  std::string name;
  ColumnType type = ColumnType::Any;
};

/// One value of a row; monostate is SQL's NULL. FLOAT32 values stay float, so that they print shortest.
using Cell =
    std::variant<std::monostate, std::int64_t, float, double, std::complex<float>, std::complex<double>, std::string>;
using Row = std::vector<Cell>;

/// A finished tensor relation in memory: tiles in order of tile_id; a null tile is all zero.
struct TensorRelation {
  std::string name;
  std::vector<std::string> labels;
  DType dtype = DType::Float64;
  TileGrid grid;
  std::vector<TilePtr> tiles;
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
  std::shared_ptr<const TensorRelation> tensor;
};

}  // namespace eindb
