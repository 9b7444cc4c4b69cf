#pragma once

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
};

}  // namespace eindb
