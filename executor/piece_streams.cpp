#include "executor/piece_streams.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "common/byte_order.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/encoding/packed_cells.hpp"
#include "tensor/cell_box_walk.hpp"
#include "tensor/cell_gather.hpp"

namespace eindb {
namespace {

// Places in the entry of a piece, which begins with the layer.
constexpr std::size_t kTargetOffset = 4;
constexpr std::size_t kSourceOffset = 12;
constexpr std::size_t kBytesOffset = 20;

[[noreturn]] void refuse(Rank peer, const std::string& what) {
  throw Error(ErrorKind::Corrupt, "rank " + std::to_string(peer) + " sent " + what);
}

}  // namespace

void PiecesHeader::encode(std::vector<std::byte>& out) const {
  CHECK(!entries.empty() && entries.size() <= kMostPieces, "a message has pieces, as many as its header can name");
  out.resize(kStepBytes + entries.size() * kPieceBytes);
  store_number(out, 0, static_cast<std::uint32_t>(step.index()));
  auto at = kStepBytes;
  for (const auto& [piece, bytes] : entries) {
    store_number(out, at, static_cast<std::uint32_t>(piece.layer));
    store_number(out, at + kTargetOffset, piece.target);
    store_number(out, at + kSourceOffset, piece.source);
    store_number(out, at + kBytesOffset, bytes);
    at += kPieceBytes;
  }
}

PiecesHeader PiecesHeader::decode(std::span<const std::byte> bytes, std::size_t payload) {
  const auto fail = [](const char* what) {
    throw Error(ErrorKind::Corrupt, std::string("pieces of tiles have a header ") + what);
  };
  if (bytes.size() < kStepBytes + kPieceBytes || (bytes.size() - kStepBytes) % kPieceBytes != 0)
    fail("of another size");
  const auto count = (bytes.size() - kStepBytes) / kPieceBytes;
  if (count > kMostPieces || (count > 1 && payload > kMostTogether)) fail("of more than travel together");
  PiecesHeader header{StepId(load_number<std::uint32_t>(bytes, 0)), {}};
  std::uint64_t left = payload;
  for (std::size_t n = 0; n < count; ++n) {
    const auto at = kStepBytes + n * kPieceBytes;
    const Entry entry{.piece = {.target = load_number<std::int64_t>(bytes, at + kTargetOffset),
                                .layer = load_number<std::uint32_t>(bytes, at),
                                .source = load_number<std::int64_t>(bytes, at + kSourceOffset)},
                      .bytes = load_number<std::uint64_t>(bytes, at + kBytesOffset)};
    if (entry.bytes > left) fail("of more bytes than there are");
    left -= entry.bytes;
    header.entries.push_back(entry);
  }
  if (left != 0) fail("of fewer bytes than there are");
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
  if (!stream.laid && !lay_next(stream)) {
    stream.packed.reset();
    stream.cells.reset();
    stream.together.reset();
    return std::nullopt;
  }
  if (stream.payload.size() > PiecesHeader::kSmallPiece || !has_room_together(stream)) return alone(stream);
  return together(stream);
}

// Lays the next piece that is not absent; false at the end of the stream.
bool OutgoingPieces::lay_next(Stream& stream) {
  stream.laid.reset();
  stream.tile.reset();
  while (stream.next < stream.pieces.size()) {
    const auto& piece = stream.pieces[stream.next++];
    CHECK(local_ != nullptr, "a rank gives pieces of what it holds");
    auto tile = local_->stored_tile(piece.source);
    if (tile == nullptr) continue;
    const bool of_cells = tile->is_of_cells();
    stream.payload = of_cells ? lay_cells(stream, piece, *tile) : lay(stream, piece, local_->plain(std::move(tile)));
    if (of_cells && stream.payload.empty()) continue;
    stream.laid = piece;
    return true;
  }
  return false;
}

OutgoingMessage OutgoingPieces::alone(Stream& stream) {
  PiecesHeader{step_, {{*stream.laid, stream.payload.size()}}}.encode(stream.header);
  stream.laid.reset();
  return {stream.header, stream.payload};
}

// Room for as much as a message may have of the pieces that are left, without evicting anything for it.
bool OutgoingPieces::has_room_together(Stream& stream) {
  if (stream.together) return true;
  const auto left = stream.pieces.size() - stream.next;
  if (left == 0) return false;
  const auto bytes = std::min(PiecesHeader::kMostTogether, (left + 1) * PiecesHeader::kSmallPiece);
  if (!memory_->try_reserve(static_cast<std::int64_t>(bytes))) return false;
  auto room = MemoryReservation::adopt(memory_, static_cast<std::int64_t>(bytes));
  stream.together.emplace(CountedBuffer{std::move(room), {}});
  stream.together->bytes.reserve(bytes);
  return true;
}

std::optional<OutgoingMessage> OutgoingPieces::together(Stream& stream) {
  PiecesHeader header{step_, {}};
  auto& bytes = stream.together->bytes;
  bytes.clear();
  do {
    bytes.insert(bytes.end(), stream.payload.begin(), stream.payload.end());
    header.entries.push_back({*stream.laid, stream.payload.size()});
  } while (lay_next(stream) && stream.payload.size() <= PiecesHeader::kSmallPiece &&
           header.entries.size() < PiecesHeader::kMostPieces &&
           bytes.size() + stream.payload.size() <= PiecesHeader::kMostTogether);
  header.encode(stream.header);
  return OutgoingMessage{stream.header, bytes};
}

std::span<const std::byte> OutgoingPieces::lay(Stream& stream, const TilePiece& piece, TilePtr tile) {
  const auto overlap = moves_.overlap(piece);
  if (const auto values = overlap.in_place(*tile); !values.empty()) {
    stream.tile = std::move(tile);
    return values;
  }
  // The previous piece usually had the same shape. The room of the largest one so far is kept.
  if (!stream.packed) {
    stream.packed.emplace(counted_tile(memory_, tile->dtype(), overlap.shape()));
  } else if (stream.packed->tile.shape() != overlap.shape()) {
    auto& [room, packed] = *stream.packed;
    const auto size = static_cast<std::int64_t>(size_of(tile->dtype()));
    room.raise_to(checked_multiply(overlap.shape().element_count(), size));
    packed = Tile::uninitialized(tile->dtype(), overlap.shape());
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
  const auto [step, entries] = PiecesHeader::decode(header, size);
  if (step != step_) refuse(peer, "a piece of a tile for another step");
  if (size > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) refuse(peer, "more than can be");
  CHECK(peer < streams_.size(), "pieces come from ranks that take part in the step");
  auto& stream = streams_[peer];
  CHECK(!stream.tile && !stream.bytes, "pieces are there before the next ones of their stream begin");
  stream.pieces.clear();
  for (const auto& entry : entries) stream.pieces.push_back(find(peer, entry));
  if (!of_cells_ && entries.size() == 1) {
    stream.tile.emplace(new_tile(stream.pieces[0].number));
    return stream.tile->tile.mutable_bytes();
  }
  MemoryReservation room(memory_, static_cast<std::int64_t>(size));
  return stream.bytes.emplace(CountedBuffer{std::move(room), std::vector<std::byte>(size)}).bytes;
}

// Only later pieces are accepted, so no piece is accepted twice.
IncomingPieces::Piece IncomingPieces::find(Rank peer, const PiecesHeader::Entry& entry) {
  const auto& piece = entry.piece;
  const auto expected = needed_.from(peer);
  auto& next = streams_[peer].next;
  const auto found = std::lower_bound(expected.begin() + static_cast<std::ptrdiff_t>(next), expected.end(), piece,
                                      [&](std::uint32_t n, const TilePiece& p) { return needed_.on_its_way(n) < p; });
  if (found == expected.end() || needed_.on_its_way(*found) != piece)
    refuse(peer, "a piece of a tile that is not expected of it now");
  next = static_cast<std::size_t>(found - expected.begin()) + 1;
  const auto elements = needed_.overlap(*found).shape().element_count();
  if (!of_cells_ && entry.bytes != static_cast<std::size_t>(elements) * size_of(type_))
    refuse(peer, "a piece of a tile of another size");
  return {*found, static_cast<std::size_t>(entry.bytes)};
}

CountedTile IncomingPieces::new_tile(std::size_t piece) const {
  return counted_tile(memory_, type_, needed_.overlap(piece).shape());
}

CountedTile IncomingPieces::unpacked(Rank peer, std::size_t piece, std::span<const std::byte> packed) const {
  const Shape shape = needed_.overlap(piece).shape();
  const auto count = packed_cell_count(type_, shape, packed);
  if (!count) refuse(peer, "a piece that is not of cells");
  MemoryReservation room(memory_, CellGather::bytes_for(type_, shape.rank(), *count));
  auto cells = unpack_cells(type_, shape, packed);
  if (!cells) refuse(peer, "a piece with other cells than it says");
  auto tile = Tile::of_cells(std::make_shared<const CellBlock>(*std::move(cells)));
  room.shrink_to(static_cast<std::int64_t>(tile.byte_size()));
  room.raise_to(static_cast<std::int64_t>(tile.byte_size()));
  return {std::move(room), std::move(tile)};
}

void IncomingPieces::end(Rank peer) {
  const MemoryBudget::Task scope(*memory_);
  auto& stream = streams_[peer];
  CHECK(stream.tile.has_value() != stream.bytes.has_value(), "pieces that end have begun");
  messages_.fetch_add(1, std::memory_order_relaxed);
  count_.fetch_add(static_cast<std::int64_t>(stream.pieces.size()), std::memory_order_relaxed);
  if (stream.tile) return taker_.take(stream.pieces[0].number, *std::exchange(stream.tile, std::nullopt));
  const auto together = *std::exchange(stream.bytes, std::nullopt);
  auto rest = std::span<const std::byte>(together.bytes);
  for (const auto& [number, bytes] : stream.pieces) {
    const auto packed = rest.first(bytes);
    rest = rest.subspan(bytes);
    if (of_cells_) {
      taker_.take(number, unpacked(peer, number, packed));
      continue;
    }
    auto tile = new_tile(number);
    std::copy(packed.begin(), packed.end(), tile.tile.mutable_bytes().begin());
    taker_.take(number, std::move(tile));
  }
}

}  // namespace eindb
