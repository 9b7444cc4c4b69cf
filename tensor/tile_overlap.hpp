#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The intersection of a tile of one grid and a tile of another grid of the same rank: a box. On its way from one to
/// the other, a copy of it lies row-major in a buffer of its own, the piece.
///
/// Example: rows 0 to 5 in 2 tiles and in 3: tile 0 of the source (0 to 2) and tile 1 of the target (2 and 3) share row
/// 2, the last row of the source and the first of the target.
class TileOverlap {
 public:
  /// The tiles with these keys must overlap.
  TileOverlap(const TileGrid& source, const TileKey& source_key, const TileGrid& target, const TileKey& target_key);
  /// The same where index 0 of the source is index `offset` of the target along dimension `along`.
  TileOverlap(const TileGrid& source, const TileKey& source_key, const TileGrid& target, const TileKey& target_key,
              std::size_t along, std::int64_t offset);

  /// The shape of the box.
  const Shape& shape() const { return shape_; }
  bool is_all_of_source() const { return shape_ == source_; }
  bool is_all_of_target() const { return shape_ == target_; }

  /// The box within the source's values if it is contiguous there; otherwise empty.
  std::span<const std::byte> in_place(const Tile& source) const;
  /// Copies from the source to a piece.
  void pack(const Tile& source, std::span<std::byte> piece) const;
  /// Copies from a piece to the target.
  void unpack(std::span<const std::byte> piece, Tile& target) const;
  /// Copies from the source to the target.
  void copy(const Tile& source, Tile& target) const;
  /// Zeroes the box in the target.
  void clear(Tile& target) const;

 private:
  Shape source_;
  Shape target_;
  Shape shape_;
  std::int64_t begin_in_source_ = 0;  // elements before the box
  std::int64_t begin_in_target_ = 0;
};

}  // namespace eindb
