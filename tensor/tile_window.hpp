#pragma once

#include <optional>
#include <span>

#include "tensor/partition.hpp"

namespace eindb {

/// A box of a tensor relation's keys: those with begin[d] <= key[d] < begin[d] + size[d]. Its tiles are numbered
/// row-major within the box. It describes a slice of a relation, or a whole grid.
struct TileWindow {
  TileKey begin;
  TileKey size;

  static TileWindow whole(const Partition& parts) { return {TileKey(parts.size(), 0), parts}; }
  /// An empty window of a grid of `rank` dimensions, at least one.
  static TileWindow none(std::size_t rank) { return {TileKey(rank, 0), TileKey(rank, 0)}; }

  std::int64_t tile_count() const;
  TileKey key_of(std::int64_t number) const;
  std::int64_t number_of(const TileKey& key) const;
  /// The first key of the window that is not before `key` in row-major order; nullopt if there is none.
  std::optional<TileKey> next(TileKey key) const;
};

/// The tiles of `grid` that have indices of the box, which lies in its shape: a range per dimension, any of them empty.
TileWindow window_over(const TileGrid& grid, std::span<const PartRange> box);

}  // namespace eindb
