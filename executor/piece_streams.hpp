#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/cancellation.hpp"
#include "executor/exchange.hpp"
#include "executor/needed_pieces.hpp"
#include "executor/relation.hpp"
#include "plan/tile_moves.hpp"

namespace eindb {

/// What goes before a piece on its way: 24 bytes, little-endian: step (4), layer (4), target tile (8), source tile (8).
struct PieceHeader {
  static constexpr std::size_t kBytes = 24;
  using Bytes = std::array<std::byte, kBytes>;

  StepId step;
  TilePiece piece;

  Bytes encode() const;
  /// Error{Corrupt} if it is none.
  static PieceHeader decode(std::span<const std::byte> bytes);
};

/// The pieces that a rank gives to others in one step, in order; those of absent tiles are left out. A piece that lies
/// in the memory of its tile in one piece is sent from there, another is packed first. Memory: the list of pieces, and
/// one of them for each peer. `local`, null if the rank holds nothing, and `moves` outlive it.
class OutgoingPieces final : public OutgoingStreams {
 public:
  OutgoingPieces(StepId step, const TileMoves& moves, Rank rank, Relation* local, std::shared_ptr<MemoryBudget> memory,
                 const Cancellation& cancellation);

  std::optional<OutgoingMessage> next(Rank peer) override;
  bool sends_to(Rank peer) const override { return !streams_[peer].pieces.empty(); }

 private:
  struct Stream {
    std::vector<TilePiece> pieces;
    std::size_t next = 0;
    PieceHeader::Bytes header{};
    TilePtr tile;                       // that is being sent from
    std::optional<CountedTile> packed;  // or what was packed
  };

  std::span<const std::byte> lay(Stream& stream, const TilePiece& piece, TilePtr tile);

  StepId step_;
  const TileMoves& moves_;
  Relation* local_;
  std::shared_ptr<MemoryBudget> memory_;
  const Cancellation& cancellation_;
  std::vector<Stream> streams_;  // to each rank
};

/// Who makes tiles of pieces, of those of NeededPieces. Called from within tasks of the budget (MemoryBudget::Task).
class PieceTaker {
 public:
  virtual ~PieceTaker() = default;
  /// A piece has arrived from another rank. At most once for each.
  virtual void take(std::size_t piece, CountedTile tile) = 0;
  /// All pieces have arrived that are not all zero: makes target number `target`, if it is not there yet. May be called
  /// again after Error{MemoryLimit}.
  virtual void finish(std::size_t target) = 0;
};

/// The pieces that a rank receives in one step. A peer gives those that are expected of it, in their order; what it
/// leaves out is all zero. Everything else is Error{Corrupt}.
class IncomingPieces final : public IncomingStreams {
 public:
  IncomingPieces(StepId step, const NeededPieces& needed, DType type, std::shared_ptr<MemoryBudget> memory,
                 const Cancellation& cancellation, PieceTaker& taker);

  std::span<std::byte> begin(Rank peer, std::span<const std::byte> header, std::size_t size) override;
  void end(Rank peer) override;
  bool receives_from(Rank peer) const override { return !needed_.from(peer).empty(); }

  /// Pieces that have arrived.
  std::int64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Stream {
    std::size_t next = 0;  // of those expected
    std::size_t piece = 0;
    std::optional<CountedTile> tile;  // being received
  };

  std::size_t find(Rank peer, const TilePiece& piece);

  StepId step_;
  const NeededPieces& needed_;
  DType type_;
  std::shared_ptr<MemoryBudget> memory_;
  const Cancellation& cancellation_;
  PieceTaker& taker_;
  std::vector<Stream> streams_;  // from each rank
  std::atomic<std::int64_t> count_{0};
};

}  // namespace eindb
