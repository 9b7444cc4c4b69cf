#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/tile_moves.hpp"
#include "tensor/tile_overlap.hpp"

namespace eindb {

/// The pieces that one rank needs for the tiles that it will hold. They are numbered by target tile, and in a fixed
/// order within a tile, so that a piece follows those of earlier layers. Immutable, thread-safe; `moves` must outlive
/// it.
class NeededPieces {
 public:
  enum class Place : std::uint8_t { Here, Elsewhere, Nowhere };  ///< Nowhere: no rank has the source, so it is zero
  struct Piece {
    std::int64_t source;
    std::uint32_t layer;
    std::uint32_t number;  ///< among the pieces from other ranks
    Place place;
  };

  NeededPieces(const TileMoves& moves, Rank rank);

  const TileMoves& moves() const { return moves_; }
  /// The number of target tiles that need pieces: all tiles with elements that the rank will hold, and of cells those
  /// of which there are pieces.
  std::size_t target_count() const { return targets_.size(); }
  std::int64_t target(std::size_t n) const { return targets_[n]; }
  /// The pieces of target n are begin(n) to begin(n + 1) - 1.
  std::size_t begin(std::size_t n) const { return begin_[n]; }
  std::size_t target_of(std::size_t piece) const;
  const Piece& operator[](std::size_t piece) const { return pieces_[piece]; }
  bool is_here(std::size_t piece) const { return pieces_[piece].place == Place::Here; }
  bool is_elsewhere(std::size_t piece) const { return pieces_[piece].place == Place::Elsewhere; }
  /// The number of pieces from other ranks.
  std::int64_t elsewhere_count() const { return elsewhere_count_; }
  /// The pieces from one rank, in ascending order.
  std::span<const std::uint32_t> from(Rank giver) const { return from_[giver]; }
  /// The piece as other ranks identify it.
  TilePiece on_its_way(std::size_t piece) const {
    return {targets_[target_of(piece)], pieces_[piece].layer, pieces_[piece].source};
  }
  TileOverlap overlap(std::size_t piece) const { return moves_.overlap(on_its_way(piece)); }

 private:
  const TileMoves& moves_;
  std::vector<std::int64_t> targets_;
  std::vector<std::uint32_t> begin_;
  std::vector<Piece> pieces_;
  std::vector<std::vector<std::uint32_t>> from_;  // by rank
  std::int64_t elsewhere_count_ = 0;
};

}  // namespace eindb
