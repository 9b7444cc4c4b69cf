#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/partition.hpp"

namespace eindb {

/// A process that takes part in a distributed statement, 0 to size - 1: the workers and the coordinator.
using Rank = std::uint16_t;

/// A relation in blocks, one per rank: the blocks are the tiles of a grid of `parts`, which divides that of the
/// relation's tiles, and rank r holds the block at[r] with all tiles in it; nullopt: none. Blocks may lie at several
/// ranks. What a DistributedType says, and every placement that a permutation of ranks makes of one.
struct BlockPlacement {
  Partition parts;
  std::vector<std::optional<TileKey>> at;

  friend bool operator==(const BlockPlacement&, const BlockPlacement&) = default;
};

/// Which ranks hold each tile of a grid: those of tile t are ranks[begin[t]] to ranks[begin[t + 1] - 1], in ascending
/// order. Of a stored tensor a tile without ranks is all zero; a tile of a result has at least one.
struct TileHolders {
  std::vector<std::uint32_t> begin = {0};
  std::vector<Rank> ranks;

  std::int64_t tile_count() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  std::span<const Rank> of(std::int64_t tile_id) const {
    const auto t = static_cast<std::size_t>(tile_id);
    return std::span(ranks).subspan(begin[t], begin[t + 1] - begin[t]);
  }

  friend bool operator==(const TileHolders&, const TileHolders&) = default;
};

}  // namespace eindb
