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

/// The header of a piece: 24 bytes, little-endian: step (4), layer (4), target tile (8), source tile (8).
struct PieceHeader {
  static constexpr std::size_t kBytes = 24;
  using Bytes = std::array<std::byte, kBytes>;

  StepId step;
  TilePiece piece;

  Bytes encode() const;
  /// Error{Corrupt} if the size is wrong.
  static PieceHeader decode(std::span<const std::byte> bytes);
};

/// Bytes of memory, counted against the limit.
struct CountedBuffer {
  MemoryReservation reservation;
  std::vector<std::byte> bytes;
};

/// The pieces that a rank sends to others in one step, in order; pieces of absent tiles are left out. A piece that is
/// contiguous in its tile is sent without a copy, others are packed first. Of a tile of cells a piece has those in its
/// box (storage/encoding/packed_cells), and is left out if there are none. Memory: the list of pieces, and one piece
/// per peer. `local` (null if the rank holds nothing) and `moves` must outlive it.
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
    TilePtr tile;                        // the tile being sent from
    std::optional<CountedTile> packed;   // or the packed piece
    std::optional<CountedBuffer> cells;  // or the packed cells
  };

  std::span<const std::byte> lay(Stream& stream, const TilePiece& piece, TilePtr tile);
  std::span<const std::byte> lay_cells(Stream& stream, const TilePiece& piece, const Tile& tile);

  StepId step_;
  const TileMoves& moves_;
  Relation* local_;
  std::shared_ptr<MemoryBudget> memory_;
  const Cancellation& cancellation_;
  std::vector<Stream> streams_;  // by rank
};

/// Makes tiles of pieces listed in NeededPieces. Called within tasks of the budget (MemoryBudget::Task).
class PieceTaker {
 public:
  virtual ~PieceTaker() = default;
  /// Takes a piece that has arrived from another rank, of values or of cells as the step's tiles are; at most once for
  /// each.
  virtual void take(std::size_t piece, CountedTile tile) = 0;
  /// Call when all nonzero pieces have arrived: makes target number `target`, if it is not finished yet. May be called
  /// again after Error{MemoryLimit}.
  virtual void finish(std::size_t target) = 0;
};

/// The pieces that a rank receives in one step, of values or `of_cells`. A peer sends the expected pieces in order;
/// those it leaves out are zero. Anything else is Error{Corrupt}.
class IncomingPieces final : public IncomingStreams {
 public:
  IncomingPieces(StepId step, const NeededPieces& needed, DType type, bool of_cells,
                 std::shared_ptr<MemoryBudget> memory, const Cancellation& cancellation, PieceTaker& taker);

  std::span<std::byte> begin(Rank peer, std::span<const std::byte> header, std::size_t size) override;
  void end(Rank peer) override;
  bool receives_from(Rank peer) const override { return !needed_.from(peer).empty(); }

  /// The number of pieces that have arrived.
  std::int64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Stream {
    std::size_t next = 0;  // of the expected pieces
    std::size_t piece = 0;
    std::optional<CountedTile> tile;     // being received
    std::optional<CountedBuffer> cells;  // or packed cells
  };

  std::size_t find(Rank peer, const TilePiece& piece);
  CountedTile unpacked(Rank peer, std::size_t piece, CountedBuffer packed) const;

  StepId step_;
  const NeededPieces& needed_;
  DType type_;
  bool of_cells_;
  std::shared_ptr<MemoryBudget> memory_;
  const Cancellation& cancellation_;
  PieceTaker& taker_;
  std::vector<Stream> streams_;  // by rank
  std::atomic<std::int64_t> count_{0};
};

}  // namespace eindb
