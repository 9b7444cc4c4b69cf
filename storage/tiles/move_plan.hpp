#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "storage/shards/shard_access.hpp"
#include "storage/shards/tile_reference.hpp"
#include "storage/tiles/shard_census.hpp"

namespace eindb {

/// A worker as a place for tiles.
struct TilePlace {
  enum class Standing : std::uint8_t {
    Stays,    ///< its copies count, even if it is away for a short time
    Missed,   ///< it has been away for long: others are to have copies in place of its own
    Leaving,  ///< its copies are to move to others, who may read them there
  };
  ShardWorker worker;
  Standing standing = Standing::Stays;
  bool is_there = false;        ///< its copies can be read now
  bool takes = false;           ///< new copies may go there: it stays, is there and has room
  std::int64_t bytes_free = 0;  ///< room for new copies
};

/// By the workers' row numbers: all that references may name.
using TilePlaces = std::map<WorkerNumber, TilePlace>;

/// A change of the workers that have a tile. Copies are made at the new ones before it happens.
struct TileMove {
  ShardedTile tile;
  std::vector<WorkerNumber> sources;  ///< workers to read it from, in this order; empty if there is nothing to copy
  std::vector<WorkerNumber> added;
  std::vector<WorkerNumber> removed;

  std::int64_t bytes() const { return static_cast<std::int64_t>(tile.reference.bytes * added.size()); }
  /// The workers afterwards: those that stay in their order, then the new ones.
  std::vector<WorkerNumber> workers() const;
};

/// The tiles at a worker that are to move to others.
struct TilesToMove {
  std::int64_t tiles = 0;
  std::int64_t bytes = 0;
  std::int64_t stuck = 0;  ///< tiles among them of which no worker has a copy to read, or to which none can take one
};

struct MovePlan {
  std::vector<TileMove> moves;  ///< in the order in which they should happen
  /// The tiles that have to leave each worker that is missed or leaves, by its row number; absent: nothing.
  std::map<WorkerNumber, TilesToMove> leaving;
  /// Tiles, and their bytes, that have fewer copies at workers that stay than are wanted.
  TilesToMove lacking;
  std::int64_t balancing = 0;  ///< moves that only even out the workers' loads
};

struct MoveRules {
  /// Whether the worker has garbage of the content, or must not get a copy of it for another reason.
  std::function<bool(WorkerNumber, ContentId)> is_refused;
  /// Loads of workers that differ from the mean by fewer bytes are left as they are.
  std::int64_t least_imbalance = 0;
};

/// Chooses where tiles move, so that each has its number of copies at workers that stay: first what has too few copies,
/// then what lies at workers that leave. Where there is nothing of that, workers with less than half of the mean load
/// take over their share of each tensor. Copies go to the workers with the least bytes. A tile whose copies cannot be
/// replaced keeps those that it has, also at workers that are missed. `tiles` are grouped by tensor.
MovePlan plan_moves(const std::vector<ShardedTile>& tiles, const TilePlaces& places, const MoveRules& rules);

}  // namespace eindb
