#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/physical_plan.hpp"
#include "plan/tile_layout.hpp"
#include "tensor/tile_overlap.hpp"

namespace eindb {

/// The intersection of a tile of a step's input and a tile of its result, within one layer (TileLayout). Ordered like
/// the pieces that travel from one rank to another.
struct TilePiece {
  std::int64_t target = 0;
  std::int64_t layer = 0;
  std::int64_t source = 0;

  friend auto operator<=>(const TilePiece&, const TilePiece&) = default;
};

/// The pieces that ranks exchange in a RedistributeStep or a ReduceStep. All ranks derive the same pieces, each in time
/// proportional to its own. A rank that holds the source of a piece takes it from itself. Dimensions of the result may
/// be longer than those of the input, or shorter: what lies beyond the end of either is in no piece.
///
/// If several ranks hold a source tile in a layer, rank r gets it from holder number (k + layer + r) mod their count,
/// in ascending order, where k is the sum of the tile's key. So neighbouring tiles, in any direction, come from
/// different holders, and the receivers of one tile are spread over all its holders. Example: tiles (0,0), (0,1), (1,0)
/// are at ranks 0 and 4; rank 1 takes them from ranks 4, 0, 0.
///
/// Pieces `of_cells` are those of tiles that some rank has alone: a tensor may have many more tiles than are there.
///
/// Immutable, thread-safe; the layouts must outlive it.
class TileMoves {
 public:
  TileMoves(const TileLayout& from, const TileLayout& to, bool of_cells = false);

  const TileLayout& from() const { return from_; }
  const TileLayout& to() const { return to_; }
  /// The rank that gives the receiver pieces of the source tile; nullopt: no rank has it, as it is all zero.
  std::optional<Rank> giver(const TileKey& source, std::int64_t layer, Rank receiver) const;

  /// Calls f(piece, giver) for all pieces of the tiles that the rank will hold, in order.
  template <class F>
  void for_each_needed(Rank rank, F&& f) const {
    if (of_cells_ && !from_.is_in_blocks()) {
      for (const auto& piece : listed_pieces(rank)) f(piece, giver(from_.grid().key_of(piece.source), 0, rank));
      return;
    }
    for (const auto target : to_.tiles_of(rank)) {
      const auto box = sources_of(to_.grid().key_of(target));
      for (std::int64_t layer = 0; layer < from_.layers(); ++layer)
        for (std::int64_t n = 0; n < box.tile_count(); ++n) {
          const auto key = box.key_of(n);
          f(TilePiece{target, layer, from_.grid().id_of(key)}, giver(key, layer, rank));
        }
    }
  }

  /// Calls f(piece, receiver) for all pieces that the rank gives to others, grouped by source tile.
  template <class F>
  void for_each_given(Rank rank, F&& f) const {
    const auto layer = from_.layer_of(rank);
    for (const auto source : from_.tiles_of(rank)) {
      const auto key = from_.grid().key_of(source);
      const auto box = targets_of(key);
      for (std::int64_t n = 0; n < box.tile_count(); ++n) {
        const auto target = box.key_of(n);
        for (const auto receiver : to_.holders(target, 0))
          if (receiver != rank && giver(key, layer, receiver) == rank)
            f(TilePiece{to_.grid().id_of(target), layer, source}, receiver);
      }
    }
  }

  /// The tiles of the other grid that overlap a tile; none if it has no elements, or none that the other grid has.
  TileWindow sources_of(const TileKey& target) const { return overlapped(to_.grid(), target, from_.grid()); }
  TileWindow targets_of(const TileKey& source) const { return overlapped(from_.grid(), source, to_.grid()); }
  /// Whether all elements of a tile of the result lie in pieces.
  bool is_covered(std::int64_t target) const;
  TileOverlap overlap(const TilePiece& piece) const {
    const auto& from = from_.grid();
    const auto& to = to_.grid();
    return {from, from.key_of(piece.source), to, to.key_of(piece.target)};
  }
  /// The same as the range of the tensor's indices in each dimension.
  std::vector<PartRange> box(const TilePiece& piece) const;

 private:
  // The pieces of listed tiles that the rank will hold, in order.
  std::vector<TilePiece> listed_pieces(Rank rank) const;
  // The tiles of `other` that overlap the tile of `grid` at the key.
  static TileWindow overlapped(const TileGrid& grid, const TileKey& key, const TileGrid& other);

  const TileLayout& from_;
  const TileLayout& to_;
  bool of_cells_;
};

/// The bytes that each rank receives from others in a RedistributeStep or ReduceStep of a valid plan, if all tiles are
/// there that have holders: what Exchange counts but for headers of pieces, to the byte; padding of collectives is part
/// of it. Others receive nothing. Of tiles of cells, the bytes that these take on their way if they are spread evenly
/// over the tiles that have holders.
/// Cost: where both sides are in blocks, of the ranks; else of the pieces.
std::vector<double> bytes_received(const PhysicalPlan& plan, StepId step, std::span<const TileHolders> lists);

}  // namespace eindb
