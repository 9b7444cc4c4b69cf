#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/partition.hpp"

namespace eindb {

/// A process that takes part in a distributed statement, from 0 to size - 1: a worker or the coordinator.
using Rank = std::uint16_t;

/// A relation placed in blocks, one per rank: the blocks are the tiles of a grid of `parts`, which divides the grid of
/// the relation's tiles. Rank r holds the block at[r] with all its tiles; nullopt: none. Several ranks may hold the
/// same block. Every DistributedType has such a placement, and so has each permutation of its ranks.
struct BlockPlacement {
  Partition parts;
  std::vector<std::optional<TileKey>> at;

  friend bool operator==(const BlockPlacement&, const BlockPlacement&) = default;
};

/// The ranks that hold each tile of a grid: tile t has ranks[begin[t]] to ranks[begin[t + 1] - 1], in ascending order.
/// A tile of a stored tensor without ranks is all zero; a tile of a result has at least one rank.
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
