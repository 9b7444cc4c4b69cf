#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "storage/encoding/tile_codec.hpp"
#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The cells of a tile of few cells while some of them are changed. Elements have the size of the tile's type and are
/// numbered row-major. For one thread.
class CellChanges {
 public:
  /// A tile with these cells, whose values are of that type.
  CellChanges(DType type, CellList cells);

  /// The element with that number, which becomes a cell if it is none yet. Valid until the next call for another one.
  std::byte* at(std::uint32_t number);
  /// The same if it is a cell, otherwise null.
  std::byte* find(std::uint32_t number);
  /// Makes the elements from `first` to before `end` zero.
  void clear(std::uint32_t first, std::uint32_t end);

  /// Cells, zeros among them.
  std::int64_t count() const { return static_cast<std::int64_t>(cells_.numbers.size() + added_.size()); }
  /// About the bytes that they take.
  std::int64_t byte_size() const;

  /// All cells in the order of their numbers. The last call.
  CellList take();
  /// The tile with all values. The last call.
  Tile expand(const Shape& shape);

 private:
  DType type_;
  std::size_t size_;
  CellList cells_;                                        // those of the beginning
  std::unordered_map<std::uint32_t, std::size_t> added_;  // by number: the place of their values
  std::vector<std::byte> values_;                         // of the added ones
};

}  // namespace eindb
