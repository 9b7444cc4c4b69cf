#pragma once

#include <cstddef>
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

/// The ranks that hold each tile of a grid, as runs of neighbouring tiles that the same ranks hold: a tensor of any
/// number of tiles that lies in a few blocks takes a few runs. A tile of a stored tensor without ranks is all zero, or
/// one that the statement does not read; a tile of a result has at least one rank.
///
/// Example: of six tiles the first four are at rank 0 and the others at ranks 1 and 2: runs [0, 4) {0} and [4, 6) {1,
/// 2}.
///
/// Invariant: no run is empty, and neighbouring runs have other ranks, so that equal holders have equal runs. A value
/// type.
class TileHolders {
 public:
  /// The tiles from `first` to before `end`.
  struct Run {
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::span<const Rank> ranks;
  };

  /// Appends `tiles` more tiles, which these ranks hold, in ascending order. Error{Shape} if all tiles together are
  /// more than 64 bits count.
  void add(std::span<const Rank> ranks, std::int64_t tiles = 1);

  std::int64_t tile_count() const { return ends_.empty() ? 0 : ends_.back(); }
  /// Takes time logarithmic in the number of runs.
  std::span<const Rank> of(std::int64_t tile_id) const;
  bool holds(Rank rank, std::int64_t tile_id) const;

  std::size_t run_count() const { return ends_.size(); }
  Run run(std::size_t n) const {
    return {n == 0 ? 0 : ends_[n - 1], ends_[n], std::span(ranks_).subspan(begin_[n], begin_[n + 1] - begin_[n])};
  }
  /// Calls f(run) for each run that the rank holds.
  template <class F>
  void for_each_run_of(Rank rank, F&& f) const {
    for (std::size_t n = 0; n < run_count(); ++n)
      if (const auto one = run(n); contains(one.ranks, rank)) f(one);
  }
  /// The bytes that it takes beside its own.
  std::size_t held_bytes() const;

  friend bool operator==(const TileHolders&, const TileHolders&) = default;

 private:
  static bool contains(std::span<const Rank> ranks, Rank rank);

  std::vector<std::int64_t> ends_;        // of each run
  std::vector<std::size_t> begin_ = {0};  // run n has the ranks from begin_[n] to before begin_[n + 1]
  std::vector<Rank> ranks_;
};

}  // namespace eindb
