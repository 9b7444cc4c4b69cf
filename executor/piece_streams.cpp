#include "executor/piece_streams.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/encoding/packed_cells.hpp"
#include "tensor/cell_box_walk.hpp"
#include "tensor/cell_gather.hpp"

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
    auto tile = local_->stored_tile(piece.source);
    if (tile == nullptr) continue;
    const bool of_cells = tile->is_of_cells();
    const auto payload =
        of_cells ? lay_cells(stream, piece, *tile) : lay(stream, piece, local_->plain(std::move(tile)));
    if (of_cells && payload.empty()) continue;
    stream.header = PieceHeader{step_, piece}.encode();
    return OutgoingMessage{stream.header, payload};
  }
  stream.packed.reset();
  stream.cells.reset();
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

// The bytes are shrunk to those that are kept once the cells are packed.
std::span<const std::byte> OutgoingPieces::lay_cells(Stream& stream, const TilePiece& piece, const Tile& tile) {
  const auto& cells = tile.cells();
  stream.cells.reset();
  MemoryReservation room(memory_, CellGather::bytes_for(cells.dtype(), cells.shape().rank(), cells.count()));
  std::vector<std::byte> packed;
  if (moves_.overlap(piece).is_all_of_source()) {
    packed = pack_cells(cells);
  } else {
    auto box = moves_.box(piece);
    const auto begin = moves_.from().grid().tile_begin(moves_.from().grid().key_of(piece.source));
    for (std::size_t d = 0; d < box.size(); ++d) box[d].begin -= begin[d];
    packed = pack_cells(cells_in_box(cells, box));
  }
  room.shrink_to(static_cast<std::int64_t>(packed.size()));
  stream.cells.emplace(CountedBuffer{std::move(room), std::move(packed)});
  return stream.cells->bytes;
}

// ---- Incoming ------------------------------------------------------------------------------------------------------

IncomingPieces::IncomingPieces(StepId step, const NeededPieces& needed, DType type, bool of_cells,
                               std::shared_ptr<MemoryBudget> memory, const Cancellation& cancellation,
                               PieceTaker& taker)
    : step_(step),
      needed_(needed),
      type_(type),
      of_cells_(of_cells),
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
  CHECK(!stream.tile && !stream.cells, "a piece is there before the next one of its stream begins");
  stream.piece = find(peer, piece);
  if (of_cells_) {
    MemoryReservation room(memory_, static_cast<std::int64_t>(size));
    return stream.cells.emplace(CountedBuffer{std::move(room), std::vector<std::byte>(size)}).bytes;
  }
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

CountedTile IncomingPieces::unpacked(Rank peer, std::size_t piece, CountedBuffer packed) const {
  const Shape shape = needed_.overlap(piece).shape();
  const auto count = packed_cell_count(type_, shape, packed.bytes);
  if (!count) refuse(peer, "a piece that is not of cells");
  MemoryReservation room(memory_, CellGather::bytes_for(type_, shape.rank(), *count));
  auto cells = unpack_cells(type_, shape, packed.bytes);
  if (!cells) refuse(peer, "a piece with other cells than it says");
  auto tile = Tile::of_cells(std::make_shared<const CellBlock>(*std::move(cells)));
  room.shrink_to(static_cast<std::int64_t>(tile.byte_size()));
  room.raise_to(static_cast<std::int64_t>(tile.byte_size()));
  return {std::move(room), std::move(tile)};
}

void IncomingPieces::end(Rank peer) {
  const MemoryBudget::Task scope(*memory_);
  auto& stream = streams_[peer];
  CHECK(stream.tile.has_value() || stream.cells.has_value(), "a piece that ends has begun");
  auto tile = of_cells_ ? unpacked(peer, stream.piece, std::move(*stream.cells)) : std::move(*stream.tile);
  stream.tile.reset();
  stream.cells.reset();
  count_.fetch_add(1, std::memory_order_relaxed);
  taker_.take(stream.piece, std::move(tile));
}

}  // namespace eindb
