#include "executor/direct_exchange_run.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "common/check.hpp"
#include "common/error.hpp"
#include "tensor/tile.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMessageBytes = std::size_t{4} << 20U;

// Cuts a box into a sequence of strips of whole rows of its inner dimensions, of at most `elements` elements each
// unless a single row is longer.
class Strips {
 public:
  Strips(IndexBox box, std::int64_t elements) : box_(std::move(box)), left_(element_count(box_) > 0) {
    std::int64_t row = 1;
    for (cut_ = box_.size(); cut_ > 0 && row * box_[cut_ - 1].size <= elements; --cut_) row *= box_[cut_ - 1].size;
    strip_ = box_;
    if (cut_ == 0) return;
    rows_ = std::max<std::int64_t>(1, elements / row);
    for (std::size_t d = 0; d + 1 < cut_; ++d) strip_[d].size = 1;
    strip_[cut_ - 1].size = std::min(rows_, box_[cut_ - 1].size);
  }

  bool is_done() const { return !left_; }
  const IndexBox& strip() const { return strip_; }

  void advance() {
    if (cut_ == 0) {
      left_ = false;
      return;
    }
    auto d = cut_ - 1;
    strip_[d].begin = strip_[d].end();
    while (strip_[d].begin == box_[d].end()) {
      strip_[d].begin = box_[d].begin;
      if (d == 0) {
        left_ = false;
        return;
      }
      ++strip_[--d].begin;
    }
    strip_[cut_ - 1].size = std::min(rows_, box_[cut_ - 1].end() - strip_[cut_ - 1].begin);
  }

 private:
  IndexBox box_;
  IndexBox strip_;
  std::size_t cut_ = 0;  // number of dimensions in which strips are cut, the last of them into ranges
  std::int64_t rows_ = 1;
  bool left_;
};

// The stream of one peer's piece in one direction, and its progress. Used by one thread at a time.
struct PieceStream {
  PieceStream(const IndexBox& piece, DType dtype)
      : strips(piece, static_cast<std::int64_t>(kMessageBytes / size_of(dtype))) {}

  // A buffer for a strip that is not contiguous. The first strip is the largest. The buffer is tile memory, since
  // mapping fresh pages would take longer than the copies.
  std::span<std::byte> buffer(std::int64_t elements, DType dtype) {
    if (!memory) memory.emplace(Tile::uninitialized(dtype, Shape({elements})));
    CHECK(static_cast<std::size_t>(elements) * size_of(dtype) <= memory->byte_size(), "the first strip is the largest");
    return memory->mutable_bytes().first(static_cast<std::size_t>(elements) * size_of(dtype));
  }

  Strips strips;
  std::optional<Tile> memory;
};

std::vector<std::optional<PieceStream>> streams_of(const std::vector<PeerPiece>& pieces, std::size_t ranks,
                                                   DType dtype) {
  std::vector<std::optional<PieceStream>> streams(ranks);
  for (const auto& piece : pieces) {
    CHECK(piece.peer < ranks && !streams[piece.peer], "a peer has one piece");
    streams[piece.peer].emplace(piece.box, dtype);
  }
  return streams;
}

class PiecesOut : public OutgoingStreams {
 public:
  PiecesOut(const BoxSource& source, const std::vector<PeerPiece>& pieces, std::size_t ranks, DType dtype)
      : source_(source), dtype_(dtype), streams_(streams_of(pieces, ranks, dtype)) {}

  std::optional<OutgoingMessage> next(Rank peer) override {
    auto& stream = streams_[peer];
    if (!stream || stream->strips.is_done()) return std::nullopt;
    const auto payload = bytes_of(*stream);
    stream->strips.advance();
    return OutgoingMessage{{}, payload};
  }

 private:
  std::span<const std::byte> bytes_of(PieceStream& stream) const {
    const auto& strip = stream.strips.strip();
    const auto size = static_cast<std::size_t>(element_count(strip)) * size_of(dtype_);
    if (is_contiguous(source_.box, strip))
      return source_.bytes.subspan(static_cast<std::size_t>(offset_in(source_.box, strip)) * size_of(dtype_), size);
    const auto buffer = stream.buffer(element_count(strip), dtype_);
    copy_part({strip, buffer}, source_, strip, dtype_);
    return buffer;
  }

  const BoxSource& source_;
  const DType dtype_;
  std::vector<std::optional<PieceStream>> streams_;  // by peer
};

class PiecesIn : public IncomingStreams {
 public:
  PiecesIn(const BoxTarget& target, const std::vector<PeerPiece>& pieces, std::size_t ranks, DType dtype)
      : target_(target), dtype_(dtype), streams_(streams_of(pieces, ranks, dtype)) {}

  std::span<std::byte> begin(Rank peer, std::span<const std::byte> header, std::size_t size) override {
    auto& stream = streams_[peer];
    if (!stream || stream->strips.is_done() || !header.empty() || size != bytes(stream->strips.strip()))
      refuse(peer, "sent what no piece of its has");
    const auto& strip = stream->strips.strip();
    if (is_contiguous(target_.box, strip))
      return target_.bytes.subspan(static_cast<std::size_t>(offset_in(target_.box, strip)) * size_of(dtype_), size);
    return stream->buffer(element_count(strip), dtype_);
  }

  void end(Rank peer) override {
    CHECK(streams_[peer] && !streams_[peer]->strips.is_done(), "a message that ends has begun");
    auto& stream = *streams_[peer];
    const auto& strip = stream.strips.strip();
    if (!is_contiguous(target_.box, strip))
      copy_part(target_, {strip, stream.buffer(element_count(strip), dtype_)}, strip, dtype_);
    stream.strips.advance();
  }

  void check_complete() const {
    for (std::size_t peer = 0; peer < streams_.size(); ++peer)
      if (streams_[peer] && !streams_[peer]->strips.is_done()) refuse(static_cast<Rank>(peer), "sent too little");
  }

 private:
  std::size_t bytes(const IndexBox& box) const {
    return static_cast<std::size_t>(element_count(box)) * size_of(dtype_);
  }

  [[noreturn]] static void refuse(Rank peer, const char* what) {
    throw Error(ErrorKind::Corrupt, "rank " + std::to_string(peer) + " " + what + " in a redistribution");
  }

  const BoxTarget& target_;
  const DType dtype_;
  std::vector<std::optional<PieceStream>> streams_;  // by peer
};

}  // namespace

void exchange_pieces(const BoxSource& source, const std::vector<PeerPiece>& to_send, const BoxTarget& target,
                     const std::vector<PeerPiece>& to_receive, DType dtype, Exchange& exchange) {
  PiecesOut out(source, to_send, exchange.size(), dtype);
  PiecesIn in(target, to_receive, exchange.size(), dtype);
  exchange.all_to_all(out, in);
  in.check_complete();
}

}  // namespace eindb
