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
#include "plan/fragment.hpp"

namespace eindb {

/// Makes the tiles of a rank from partial results, combined in the order of their layers, so that sums do not depend on
/// the order of arrival. A partial result that arrives in its turn is combined at once; an early one waits in the
/// budget's buffer, as does the combination so far. The last one makes the tile final.
///
/// Thread safety: take() and finish() may be called by several threads, finish() after the last take().
class TileReduction final : public PieceTaker {
 public:
  /// `source` is null if the rank has no partial results. The join must outlive the object.
  TileReduction(const JoinNode& join, const NeededPieces& needed, Relation* source, Relation& result,
                std::shared_ptr<MemoryBudget> memory);

  void take(std::size_t piece, CountedTile tile) override;
  void finish(std::size_t target) override;

 private:
  // The progress of a target; guarded by its mutex.
  struct Course {
    std::size_t next = 0;  // number of the next piece
    bool begun = false;    // something has been combined
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
  std::array<std::mutex, 64> mutexes_;  // by target
  std::vector<Course> courses_;         // by target
  std::vector<char> has_arrived_;       // by number among the pieces from other ranks; guarded like their target
  BufferedTiles early_;                 // by number among the pieces from other ranks; guarded like their target
  BufferedTiles combined_;              // by target
};

}  // namespace eindb
