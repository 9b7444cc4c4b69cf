#include "cluster/mpi/mpi_channel.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb::mpi {

namespace {

constexpr std::uint64_t kClosed = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40U;  ///< of a message; a larger size is an error
constexpr std::size_t kMostWaiting = std::size_t{16} << 20U;
constexpr std::size_t kHead = sizeof(std::uint64_t);

/// The bytes of the message are appended to it.
std::vector<std::byte> head_of(std::uint64_t size) {
  std::vector<std::byte> head(kHead);
  std::memcpy(head.data(), &size, kHead);
  return head;
}

}  // namespace

MpiChannel::MpiChannel(MPI_Comm comm, ThreadGate& gate, Outbox& outbox, Rank peer, std::size_t chunk_bytes)
    : comm_(comm),
      gate_(gate),
      peer_(peer),
      chunk_(std::clamp<std::size_t>(chunk_bytes, 1, std::size_t{1} << 30U)),
      outbox_(outbox) {}

MpiChannel::~MpiChannel() { close(); }

void MpiChannel::throw_closed() const { throw Error(ErrorKind::WorkerLost, "the channel to " + peer() + " is closed"); }

void MpiChannel::send(std::span<const std::byte> message) {
  const std::scoped_lock lock(sending_);
  wait_for_room();
  CHECK(message.size() <= kMostBytes, "a message has a size that its receiver believes");
  auto piece = head_of(message.size());
  std::size_t sent = 0;
  do {
    const std::size_t bytes = std::min(chunk_, message.size() - sent);
    const auto part = message.subspan(sent, bytes);
    piece.insert(piece.end(), part.begin(), part.end());
    outbox_.send(std::exchange(piece, {}), peer_, comm_, gate_);
    sent += bytes;
  } while (sent < message.size());
}

void MpiChannel::wait_for_room() {
  Patience patience;
  while (true) {
    if (closed_) throw_closed();
    outbox_.clear(gate_);
    if (outbox_.waiting_bytes() < kMostWaiting) return;
    patience.pause();
  }
}

std::optional<std::vector<std::byte>> MpiChannel::receive(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  Patience patience;
  while (true) {
    if (closed_) throw_closed();
    int source = peer_;
    if (const auto piece = take_message(source, comm_, gate_)) {
      if (add_piece(*piece)) return std::exchange(message_, {});
      patience.reset();
      continue;
    }
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    patience.pause();
  }
}

/// Returns whether the message is complete.
bool MpiChannel::add_piece(std::span<const std::byte> piece) {
  if (missing_ == 0) {
    std::uint64_t size = kMostBytes + 1;
    if (piece.size() >= kHead) std::memcpy(&size, piece.data(), kHead);
    if (size == kClosed) {
      closed_ = true;
      throw_closed();
    }
    if (size > kMostBytes) throw Error(ErrorKind::Corrupt, peer() + " sent no message");
    CHECK(message_.empty(), "a message begins when the one before it was taken");
    missing_ = size;
    piece = piece.subspan(kHead);
  }
  if (piece.size() > missing_) throw Error(ErrorKind::Corrupt, peer() + " sent more than it said");
  message_.insert(message_.end(), piece.begin(), piece.end());
  missing_ -= piece.size();
  return missing_ == 0;
}

void MpiChannel::close() noexcept {
  if (closed_.exchange(true)) return;
  try {
    const std::scoped_lock lock(sending_);
    outbox_.send(head_of(kClosed), peer_, comm_, gate_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the peer is gone with MPI
  }
}

}  // namespace eindb::mpi
