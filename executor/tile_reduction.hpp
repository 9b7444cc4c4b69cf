#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "executor/epilogue.hpp"
#include "executor/needed_pieces.hpp"
#include "executor/piece_streams.hpp"
#include "executor/relation.hpp"
#include "executor/tile_buffer.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Makes the tiles that a rank is to hold of partial results: one after the other in the order of their layers, so that
/// the sums are the same whatever arrives first. One that arrives in its turn is combined at once; one that is early
/// waits in the budget's buffer, and so does what was combined until then. The last one makes the tile final.
///
/// Thread safety: take() and finish() may be called by several threads, finish() after the last take().
class TileReduction final : public PieceTaker {
 public:
  /// `source` is null if the rank has no partial results. The join outlives this.
  TileReduction(const JoinNode& join, const NeededPieces& needed, Relation* source, Relation& result,
                std::shared_ptr<MemoryBudget> memory);

  void take(std::size_t piece, CountedTile tile) override;
  void finish(std::size_t target) override;

 private:
  // How far a target is; guarded by its mutex.
  struct Course {
    std::size_t next = 0;  // piece
    bool begun = false;    // something was combined
  };

  std::mutex& mutex_of(std::size_t target) { return mutexes_[target % mutexes_.size()]; }
  bool is_last(std::size_t target) const { return courses_[target].next + 1 == needed_.begin(target + 1); }
  void go_on(std::size_t target, bool all_have_come);
  TilePtr find(std::size_t piece);
  void let_go(std::size_t piece);
  void add_shared(std::size_t target, const TilePtr& tile);
  void add(std::size_t target, CountedTile tile);
  void advance(std::size_t target, TilePtr combined);
  TilePtr final_tile(std::size_t target, const TilePtr& combined);
  TilePtr final_tile(CountedTile combined);
  CountedTile copy_of(const Tile& tile) const;
  CountedTile zeros(std::size_t target) const;

  const JoinNode& join_;
  const NeededPieces& needed_;
  Relation* source_;
  Relation& result_;
  std::shared_ptr<MemoryBudget> memory_;
  Epilogue epilogue_;
  std::array<std::mutex, 64> mutexes_;  // of targets
  std::vector<Course> courses_;         // of targets
  std::vector<char> has_arrived_;       // by number among pieces from others; guarded as their target
  BufferedTiles early_;                 // likewise
  BufferedTiles combined_;              // of targets
};

}  // namespace eindb
