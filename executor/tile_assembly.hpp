#pragma once

#include <memory>

#include "executor/needed_pieces.hpp"
#include "executor/piece_streams.hpp"
#include "executor/relation.hpp"
#include "executor/tile_buffer.hpp"

namespace eindb {

/// Makes the tiles of a rank after a redistribution from pieces that arrive and from tiles that it holds. A tile that
/// arrives whole is finished at once; a local tile with the right cut is shared. Other tiles are assembled when all
/// pieces have arrived; pieces wait in the budget's buffer until then. Pieces `of_cells` make tiles of cells.
///
/// Thread safety: take() and finish() may be called by several threads, finish() after the last take().
class TileAssembly final : public PieceTaker {
 public:
  /// `source` is null if the rank holds nothing. If it `gives_up` the source, tiles that this rank no longer needs are
  /// released.
  TileAssembly(const NeededPieces& needed, Relation* source, bool gives_up, bool of_cells, Relation& result,
               std::shared_ptr<MemoryBudget> memory);

  void take(std::size_t piece, CountedTile tile) override;
  void finish(std::size_t target) override;

 private:
  bool is_one_piece(std::size_t target) const {
    return needed_.begin(target) + 1 == needed_.begin(target + 1) && needed_.moves().is_covered(needed_.target(target));
  }
  bool has_arrived_whole(std::size_t target) const;
  bool is_here_whole(std::size_t target) const;
  TilePtr find(std::size_t piece);
  TilePtr assemble(std::size_t target);
  TilePtr assemble_cells(std::size_t target);
  CountedTile begin_tile(std::size_t target, std::size_t first_present) const;
  void fill(Tile& tile, std::size_t piece, const TilePtr& found) const;
  void let_go(std::size_t target);

  const NeededPieces& needed_;
  Relation* source_;
  bool gives_up_;
  bool of_cells_;
  Relation& result_;
  std::shared_ptr<MemoryBudget> memory_;
  BufferedTiles arrived_;  // by number among the pieces from other ranks
};

}  // namespace eindb
