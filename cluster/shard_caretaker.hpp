#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/damaged_copies.hpp"
#include "cluster/move_options.hpp"
#include "cluster/move_progress.hpp"
#include "cluster/node_log.hpp"
#include "cluster/worker_status.hpp"
#include "storage/tiles/database_file.hpp"
#include "storage/tiles/tile_mover.hpp"

namespace eindb {

/// Keeps the tiles of a database where they should be, step by step: it brings back copies that were lost with a worker
/// that is missed, empties workers that leave, and gives new workers their share. All three are moves of one TileMover,
/// at one rate. It also rewrites copies that workers have found damaged, and settles what its own transactions have
/// left to be told or dropped.
///
/// It looks at all tiles only if a worker is missed or leaves, or loads are uneven, and something has changed since.
/// Used by one thread at a time; the progress is for others.
class ShardCaretaker {
 public:
  /// `progress`, `damaged` and `log` must outlive it. `path` is the database's file, which is opened when needed.
  ShardCaretaker(std::string path, const MoveOptions& options, MoveProgress& progress, DamagedCopies& damaged,
                 NodeLog& log);
  ~ShardCaretaker();
  ShardCaretaker(const ShardCaretaker&) = delete;
  ShardCaretaker& operator=(const ShardCaretaker&) = delete;

  /// Does a little work, if there is any and the rate allows it. Returns after how long it is to be called again, at
  /// most `idle`. Throws the errors of the database and of workers; the next call begins anew.
  std::chrono::milliseconds step(ShardAccess& access, const std::vector<WorkerStatus>& workers,
                                 std::chrono::milliseconds idle);

 private:
  using Clock = std::chrono::steady_clock;
  /// The state of the workers: if it is another one, tiles have to be looked at again.
  struct Occasion {
    std::map<DataId, TilePlace::Standing> standings;
    std::map<DataId, std::int64_t> leaving;  // with marks
    std::vector<DataId> taking;
    bool is_uneven = false;

    bool is_empty() const;
    friend bool operator==(const Occasion&, const Occasion&) = default;
  };

  void open(ShardAccess& access);
  void reset() noexcept;
  void settle(const std::vector<WorkerStatus>& workers);
  void mend();
  Occasion occasion(const std::vector<WorkerStatus>& workers);
  TilePlace place_of(const ShardWorker& worker, const std::vector<WorkerStatus>& workers) const;
  bool is_uneven(const std::vector<WorkerStatus>& workers) const;
  void look(const std::vector<WorkerStatus>& workers, Occasion occasion);
  void move();
  bool is_moving() const { return census_ && next_ < census_->plan.moves.size(); }
  void note_moved(const TileMove& move);

  const std::string path_;
  const MoveOptions options_;
  MoveProgress& progress_;
  DamagedCopies& damaged_;
  NodeLog& log_;
  const Clock::time_point began_ = Clock::now();
  std::unique_ptr<DatabaseFile> file_;
  std::optional<TileMover> mover_;
  std::optional<Occasion> seen_;  // of the last look
  std::uint32_t commits_ = 0;     // by others, as of the last look
  std::optional<TileMover::Census> census_;
  std::size_t next_ = 0;                     // of the census's moves
  std::map<DataId, TilesToMove> to_move_;    // what is left of the census
  MovedTiles done_;                          // since the census
  std::vector<DataId> unsettled_;            // workers that were up, with something to settle, at the last step
  std::vector<TileMover::CopyAt> unmended_;  // damaged copies that could not be rewritten
  Clock::time_point next_mending_{};
  Clock::time_point next_look_{};
  Clock::time_point next_move_{};
};

}  // namespace eindb
