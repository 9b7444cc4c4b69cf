#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// What a tile of one grid and a tile of another grid of the same shape have in common: a box, of which a copy lies
/// row-major in a piece of memory of its own on its way from one to the other.
///
/// Example: rows 0 to 5 in 2 tiles and in 3: tile 0 of the source (0 to 2) and tile 1 of the target (2 and 3) have row
/// 2 in common, the last of the one and the first of the other.
class TileOverlap {
 public:
  /// Two tiles that overlap, by their keys.
  TileOverlap(const TileGrid& source, const TileKey& source_key, const TileGrid& target, const TileKey& target_key);

  /// Of the box.
  const Shape& shape() const { return shape_; }
  bool is_all_of_source() const { return shape_ == source_; }
  bool is_all_of_target() const { return shape_ == target_; }

  /// Where the box lies in the source's values, if it does in one piece; empty if not.
  std::span<const std::byte> in_place(const Tile& source) const;
  /// Source to piece.
  void pack(const Tile& source, std::span<std::byte> piece) const;
  /// Piece to target.
  void unpack(std::span<const std::byte> piece, Tile& target) const;
  /// Source to target.
  void copy(const Tile& source, Tile& target) const;
  /// Zeros to target.
  void clear(Tile& target) const;

 private:
  Shape source_;
  Shape target_;
  Shape shape_;
  std::int64_t begin_in_source_ = 0;  // elements before the box
  std::int64_t begin_in_target_ = 0;
};

}  // namespace eindb
