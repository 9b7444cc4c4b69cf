#include "executor/needed_pieces.hpp"

#include <algorithm>
#include <limits>

#include "common/check.hpp"

namespace eindb {

NeededPieces::NeededPieces(const TileMoves& moves, Rank rank) : moves_(moves), from_(moves.to().rank_count()) {
  moves.for_each_needed(rank, [&](const TilePiece& piece, std::optional<Rank> giver) {
    CHECK(pieces_.size() < std::numeric_limits<std::uint32_t>::max(), "a rank can count the pieces that it needs");
    CHECK(!giver || *giver < from_.size(), "pieces come from ranks of the mesh");
    DCHECK(targets_.empty() || targets_.back() <= piece.target, "pieces come in the order of their tiles");
    const auto number = static_cast<std::uint32_t>(pieces_.size());
    if (targets_.empty() || targets_.back() != piece.target) {
      targets_.push_back(piece.target);
      begin_.push_back(number);
    }
    const auto place = !giver ? Place::Nowhere : *giver == rank ? Place::Here : Place::Elsewhere;
    pieces_.push_back({.source = piece.source,
                       .layer = static_cast<std::uint32_t>(piece.layer),
                       .number = static_cast<std::uint32_t>(elsewhere_count_),
                       .place = place});
    if (place != Place::Elsewhere) return;
    from_[*giver].push_back(number);
    ++elsewhere_count_;
  });
  begin_.push_back(static_cast<std::uint32_t>(pieces_.size()));
}

std::size_t NeededPieces::target_of(std::size_t piece) const {
  DCHECK(piece < pieces_.size(), "a piece is one of those that are needed");
  const auto after = std::upper_bound(begin_.begin(), begin_.end(), piece);
  return static_cast<std::size_t>(after - begin_.begin()) - 1;
}

}  // namespace eindb
