#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/tile_moves.hpp"
#include "tensor/tile_overlap.hpp"

namespace eindb {

/// The pieces that one rank needs for the tiles that it is to hold: numbered tile after tile, those of a tile in their
/// order, so that a piece follows those of earlier layers. Immutable, thread-safe; `moves` outlives it.
class NeededPieces {
 public:
  enum class Place : std::uint8_t { Here, Elsewhere, Nowhere };  ///< nowhere: nobody has the source, it is all zero
  struct Piece {
    std::int64_t source;
    std::uint32_t layer;
    std::uint32_t number;  ///< among those from others
    Place place;
  };

  NeededPieces(const TileMoves& moves, Rank rank);

  const TileMoves& moves() const { return moves_; }
  /// How many tiles need pieces: all that the rank is to hold and that have elements.
  std::size_t target_count() const { return targets_.size(); }
  std::int64_t target(std::size_t n) const { return targets_[n]; }
  /// The pieces of target n are begin(n) to begin(n + 1) - 1.
  std::size_t begin(std::size_t n) const { return begin_[n]; }
  std::size_t target_of(std::size_t piece) const;
  const Piece& operator[](std::size_t piece) const { return pieces_[piece]; }
  bool is_here(std::size_t piece) const { return pieces_[piece].place == Place::Here; }
  bool is_elsewhere(std::size_t piece) const { return pieces_[piece].place == Place::Elsewhere; }
  /// Of pieces from others.
  std::int64_t elsewhere_count() const { return elsewhere_count_; }
  /// The pieces that come from one rank, in ascending order.
  std::span<const std::uint32_t> from(Rank giver) const { return from_[giver]; }
  /// As others know it.
  TilePiece on_its_way(std::size_t piece) const {
    return {targets_[target_of(piece)], pieces_[piece].layer, pieces_[piece].source};
  }
  TileOverlap overlap(std::size_t piece) const { return moves_.overlap(on_its_way(piece)); }

 private:
  const TileMoves& moves_;
  std::vector<std::int64_t> targets_;
  std::vector<std::uint32_t> begin_;
  std::vector<Piece> pieces_;
  std::vector<std::vector<std::uint32_t>> from_;  // of each rank
  std::int64_t elsewhere_count_ = 0;
};

}  // namespace eindb
