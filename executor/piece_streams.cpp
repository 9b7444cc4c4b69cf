#include "executor/piece_streams.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are copied as they lie in memory");

template <class Value>
std::byte* write(std::byte* at, Value value) {
  std::memcpy(at, &value, sizeof(value));
  return at + sizeof(value);
}

template <class Value>
Value read(const std::byte*& at) {
  Value value;
  std::memcpy(&value, at, sizeof(value));
  at += sizeof(value);
  return value;
}

[[noreturn]] void refuse(Rank peer, const std::string& what) {
  throw Error(ErrorKind::Corrupt, "rank " + std::to_string(peer) + " sent " + what);
}

}  // namespace

PieceHeader::Bytes PieceHeader::encode() const {
  Bytes bytes;
  auto* at = write(bytes.data(), static_cast<std::uint32_t>(step.index()));
  at = write(at, static_cast<std::uint32_t>(piece.layer));
  at = write(at, piece.target);
  write(at, piece.source);
  return bytes;
}

PieceHeader PieceHeader::decode(std::span<const std::byte> bytes) {
  if (bytes.size() != kBytes) throw Error(ErrorKind::Corrupt, "a piece of a tile has a header of another size");
  const auto* at = bytes.data();
  PieceHeader header;
  header.step = StepId(read<std::uint32_t>(at));
  header.piece.layer = read<std::uint32_t>(at);
  header.piece.target = read<std::int64_t>(at);
  header.piece.source = read<std::int64_t>(at);
  return header;
}

// ---- Outgoing ------------------------------------------------------------------------------------------------------

OutgoingPieces::OutgoingPieces(StepId step, const TileMoves& moves, Rank rank, Relation* local,
                               std::shared_ptr<MemoryBudget> memory, const Cancellation& cancellation)
    : step_(step),
      moves_(moves),
      local_(local),
      memory_(std::move(memory)),
      cancellation_(cancellation),
      streams_(moves.from().rank_count()) {
  moves.for_each_given(rank, [&](const TilePiece& piece, Rank receiver) {
    CHECK(receiver < streams_.size() && receiver != rank, "a rank sends pieces to other ranks of its mesh");
    streams_[receiver].pieces.push_back(piece);
  });
  for (auto& stream : streams_) std::sort(stream.pieces.begin(), stream.pieces.end());
}

std::optional<OutgoingMessage> OutgoingPieces::next(Rank peer) {
  const MemoryBudget::Task scope(*memory_);
  cancellation_.check();
  auto& stream = streams_[peer];
  stream.tile.reset();
  while (stream.next < stream.pieces.size()) {
    const auto& piece = stream.pieces[stream.next++];
    CHECK(local_ != nullptr, "a rank gives pieces of what it holds");
    auto tile = local_->tile(piece.source);
    if (tile == nullptr) continue;
    stream.header = PieceHeader{step_, piece}.encode();
    return OutgoingMessage{stream.header, lay(stream, piece, std::move(tile))};
  }
  stream.packed.reset();
  return std::nullopt;
}

std::span<const std::byte> OutgoingPieces::lay(Stream& stream, const TilePiece& piece, TilePtr tile) {
  const auto overlap = moves_.overlap(piece);
  if (const auto values = overlap.in_place(*tile); !values.empty()) {
    stream.tile = std::move(tile);
    return values;
  }
  // The previous piece usually had the same shape.
  if (!stream.packed || stream.packed->tile.shape() != overlap.shape()) {
    stream.packed.reset();
    stream.packed.emplace(counted_tile(memory_, tile->dtype(), overlap.shape()));
  }
  overlap.pack(*tile, stream.packed->tile.mutable_bytes());
  return stream.packed->tile.bytes();
}

// ---- Incoming ------------------------------------------------------------------------------------------------------

IncomingPieces::IncomingPieces(StepId step, const NeededPieces& needed, DType type,
                               std::shared_ptr<MemoryBudget> memory, const Cancellation& cancellation,
                               PieceTaker& taker)
    : step_(step),
      needed_(needed),
      type_(type),
      memory_(std::move(memory)),
      cancellation_(cancellation),
      taker_(taker),
      streams_(needed.moves().to().rank_count()) {}

std::span<std::byte> IncomingPieces::begin(Rank peer, std::span<const std::byte> header, std::size_t size) {
  const MemoryBudget::Task scope(*memory_);
  cancellation_.check();
  const auto [step, piece] = PieceHeader::decode(header);
  if (step != step_) refuse(peer, "a piece of a tile for another step");
  CHECK(peer < streams_.size(), "pieces come from ranks that take part in the step");
  auto& stream = streams_[peer];
  CHECK(!stream.tile, "a piece is there before the next one of its stream begins");
  stream.piece = find(peer, piece);
  const auto overlap = needed_.moves().overlap(piece);
  if (size != static_cast<std::size_t>(overlap.shape().element_count()) * size_of(type_))
    refuse(peer, "a piece of a tile of another size");
  stream.tile.emplace(counted_tile(memory_, type_, overlap.shape()));
  return stream.tile->tile.mutable_bytes();
}

// Only later pieces are accepted, so no piece is accepted twice.
std::size_t IncomingPieces::find(Rank peer, const TilePiece& piece) {
  const auto expected = needed_.from(peer);
  auto& next = streams_[peer].next;
  const auto found = std::lower_bound(expected.begin() + static_cast<std::ptrdiff_t>(next), expected.end(), piece,
                                      [&](std::uint32_t n, const TilePiece& p) { return needed_.on_its_way(n) < p; });
  if (found == expected.end() || needed_.on_its_way(*found) != piece)
    refuse(peer, "a piece of a tile that is not expected of it now");
  next = static_cast<std::size_t>(found - expected.begin()) + 1;
  return *found;
}

void IncomingPieces::end(Rank peer) {
  const MemoryBudget::Task scope(*memory_);
  auto& stream = streams_[peer];
  CHECK(stream.tile.has_value(), "a piece that ends has begun");
  auto tile = std::move(*stream.tile);
  stream.tile.reset();
  count_.fetch_add(1, std::memory_order_relaxed);
  taker_.take(stream.piece, std::move(tile));
}

}  // namespace eindb
