#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tile.hpp"

namespace eindb {

/// A dense array that is read block by block.
class BlockReader {
 public:
  virtual ~BlockReader() = default;
  virtual DType dtype() const = 0;
  virtual const Shape& shape() const = 0;
  /// The block of `extents` at `begin`, which must lie within shape().
  virtual Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) = 0;
  /// Memory of read_block beyond the tile, in bytes.
  virtual std::int64_t working_bytes() const = 0;
};

}  // namespace eindb
