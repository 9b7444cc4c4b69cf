#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/stored_type.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A dense array that is read block by block.
class BlockReader {
 public:
  virtual ~BlockReader() = default;
  /// Of the values that are read.
  virtual DType dtype() const = 0;
  /// That of a tensor which keeps the array's elements; it has such values.
  virtual StoredType type() const { return dtype(); }
  virtual const Shape& shape() const = 0;
  /// The names of its dimensions, empty where one has none; none at all without names.
  virtual std::vector<std::string> labels() const { return {}; }
  /// The block of `extents` at `begin`, which must lie within shape().
  virtual Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) = 0;
  /// Memory of read_block beyond the tile, in bytes.
  virtual std::int64_t working_bytes() const = 0;
};

}  // namespace eindb
