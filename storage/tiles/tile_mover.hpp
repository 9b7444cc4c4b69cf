#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/shards/shard_access.hpp"
#include "storage/shards/sharded_contents.hpp"
#include "storage/tiles/database_file.hpp"
#include "storage/tiles/move_plan.hpp"

namespace eindb {

/// Counts of one round of moves.
struct MovedTiles {
  std::int64_t tiles = 0;  ///< whose references have changed
  std::int64_t bytes = 0;  ///< sent to workers
  std::int64_t failed = 0;
};

/// Moves tiles of sharded tensors between workers, while statements read and write them. A round of moves:
///
///     read       a copy from a worker, verified
///     put        at the new workers under a transaction number; prepare
///     change     the rows' references, if they are as they were planned; the old copies are garbage from then on
///     settle     workers are told, as of every transaction
///
/// Only the change takes the file's lock of writers; everything is durable at the workers then. A crash at any point
/// leaves each row with copies that are there: what has not become part of a transaction is aborted, and old copies are
/// dropped when nobody reads a state that refers to them. A row that has changed since it was planned keeps its change,
/// and the new copies are dropped.
///
/// Threads: one at a time. Several movers, also of other processes, may work on a database.
class TileMover {
 public:
  /// The file must use shards, and outlive the mover. Its connection is the mover's alone.
  explicit TileMover(DatabaseFile& file);

  /// A look at all tiles. `places` are those of ShardLog::workers().
  struct Census {
    TilePlaces places;
    MovePlan plan;
    /// Workers that leave, by the marks of ShardLog::leaving(), to which nothing refers, and which have no garbage
    /// either: they are not needed any more.
    std::map<DataId, std::int64_t> drained;
  };
  /// How a worker is, but for whether it leaves, which the file says.
  using PlaceOf = std::function<TilePlace(const ShardWorker&)>;
  /// Workers of `others` take tiles, too, if the file does not know them yet. Reads one state of the file.
  Census look(const PlaceOf& place_of, std::span<const ShardWorker> others, std::int64_t least_imbalance);

  /// Makes moves of the plan, from the front, until they have so many bytes; at least one. Returns how many it has
  /// tried. `done` counts them. Error{Busy} and others: nothing has changed.
  std::size_t move_some(const Census& census, std::size_t begin, std::int64_t bytes, MovedTiles& done);

  /// A copy at a worker.
  using CopyAt = std::pair<DataId, ContentId>;
  struct Mended {
    std::vector<CopyAt> unknown;                            ///< nothing refers to them
    std::map<DataId, std::vector<std::string>> unmendable;  ///< "tile [0, 3] of tensor A": no other copy is intact
  };
  /// Rewrites damaged copies from those of other workers. A state of the file is read as long as that takes.
  Mended mend(std::span<const CopyAt> damaged);

 private:
  using Copy = const TileMove*;

  void know(std::span<const ShardWorker> others);
  std::vector<Copy> possible(std::span<const TileMove> moves, std::int64_t& since);
  bool is_current(const ShardedTile& tile);
  void move_all(const Census& census, std::span<const TileMove> moves, MovedTiles& done);
  std::optional<std::vector<std::byte>> read(const TilePlaces& places, const ShardedTile& tile,
                                             std::span<const WorkerNumber> sources);
  std::string name_of(const ShardedTile& tile);
  void change(const Census& census, ShardTransaction transaction, const std::vector<ShardParticipant>& participants,
              std::vector<Copy>& moves, MovedTiles& done);
  bool refer(const TileMove& move);
  ShardedContents& contents() const;

  DatabaseFile& file_;
  std::set<std::pair<WorkerNumber, ContentId>> refused_;  // copies that workers did not take
};

}  // namespace eindb
