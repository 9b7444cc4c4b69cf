#pragma once

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

/// The header of a message of pieces, little-endian: step (4), and for each piece, in the order of the payload, which
/// is nothing but theirs: layer (4), target tile (8), source tile (8), bytes (8).
///
/// Small pieces travel together: those that follow each other in a stream, as far as the header and kMostTogether
/// allow.
struct PiecesHeader {
  static constexpr std::size_t kStepBytes = 4;
  static constexpr std::size_t kPieceBytes = 28;
  static constexpr std::size_t kMostPieces = (Exchange::kMaxHeader - kStepBytes) / kPieceBytes;
  static constexpr std::size_t kSmallPiece = std::size_t{4} << 10U;     ///< bytes; larger pieces travel alone
  static constexpr std::size_t kMostTogether = std::size_t{64} << 10U;  ///< bytes of pieces that do not travel alone

  struct Entry {
    TilePiece piece;
    std::uint64_t bytes = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  StepId step;
  std::vector<Entry> entries;  ///< 1 to kMostPieces

  /// `out` is overwritten.
  void encode(std::vector<std::byte>& out) const;
  /// Error{Corrupt} unless these are the bytes of a header for a payload of that size whose pieces may travel together.
  static PiecesHeader decode(std::span<const std::byte> bytes, std::size_t payload);
};

/// Bytes of memory, counted against the limit.
struct CountedBuffer {
  MemoryReservation reservation;
  std::vector<std::byte> bytes;
};

/// The pieces that a rank sends to others in one step, in order; pieces of absent tiles are left out. A piece that is
/// contiguous in its tile is sent without a copy, others are packed first, and small ones are put together. Of a tile
/// of cells a piece has those in its box (storage/encoding/packed_cells), and is left out if there are none. Memory:
/// the list of pieces, and one piece per peer, and what travels together where there is room for it; otherwise pieces
/// travel alone. `local` (null if the rank holds nothing) and `moves` must outlive it.
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
    std::vector<std::byte> header;
    TilePtr tile;                           // the tile being sent from
    std::optional<CountedTile> packed;      // or the packed piece
    std::optional<CountedBuffer> cells;     // or the packed cells
    std::optional<TilePiece> laid;          // which of them has not been sent
    std::span<const std::byte> payload;     // of that
    std::optional<CountedBuffer> together;  // small pieces, of one message at a time
  };

  bool lay_next(Stream& stream);
  OutgoingMessage alone(Stream& stream);
  std::optional<OutgoingMessage> together(Stream& stream);
  bool has_room_together(Stream& stream);
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
/// those it leaves out are zero. Anything else is Error{Corrupt}. A piece that travels alone is received where it
/// stays, others by way of a buffer.
class IncomingPieces final : public IncomingStreams {
 public:
  IncomingPieces(StepId step, const NeededPieces& needed, DType type, bool of_cells,
                 std::shared_ptr<MemoryBudget> memory, const Cancellation& cancellation, PieceTaker& taker);

  std::span<std::byte> begin(Rank peer, std::span<const std::byte> header, std::size_t size) override;
  void end(Rank peer) override;
  bool receives_from(Rank peer) const override { return !needed_.from(peer).empty(); }

  /// The number of pieces that have arrived, and of messages.
  std::int64_t count() const { return count_.load(std::memory_order_relaxed); }
  std::int64_t messages() const { return messages_.load(std::memory_order_relaxed); }

 private:
  struct Piece {
    std::size_t number = 0;
    std::size_t bytes = 0;
  };
  struct Stream {
    std::size_t next = 0;                // of the expected pieces
    std::vector<Piece> pieces;           // of the message that is being received
    std::optional<CountedTile> tile;     // its only piece
    std::optional<CountedBuffer> bytes;  // or packed cells, or pieces that travel together
  };

  Piece find(Rank peer, const PiecesHeader::Entry& entry);
  CountedTile new_tile(std::size_t piece) const;
  CountedTile unpacked(Rank peer, std::size_t piece, std::span<const std::byte> packed) const;

  StepId step_;
  const NeededPieces& needed_;
  DType type_;
  bool of_cells_;
  std::shared_ptr<MemoryBudget> memory_;
  const Cancellation& cancellation_;
  PieceTaker& taker_;
  std::vector<Stream> streams_;  // by rank
  std::atomic<std::int64_t> count_{0};
  std::atomic<std::int64_t> messages_{0};
};

}  // namespace eindb
