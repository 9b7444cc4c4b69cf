#include "cluster/mpi/stream_rounds.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb::mpi {

namespace {

constexpr int kParcelTag = 1;
constexpr int kChunkTag = 2;
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;  // MPI's counts are int

using Head = std::uint64_t;
struct Frame {
  std::uint64_t header_size = 0;
  std::uint64_t payload_size = 0;
};

std::span<const std::byte> bytes_of(const auto& value) { return std::as_bytes(std::span(&value, 1)); }

void append_bytes(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

template <class T>
T read(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

[[noreturn]] void throw_corrupt(Rank peer) {
  throw Error(ErrorKind::Corrupt, "rank " + std::to_string(peer) + " sent a parcel that makes no sense");
}

}  // namespace

StreamRounds::StreamRounds(const Place& place, OutgoingStreams& out, IncomingStreams& in)
    : place_(place),
      out_(out),
      in_(in),
      capacity_(std::max(place.tuning.packed_bytes,
                         sizeof(Head) + sizeof(Frame) + Exchange::kMaxHeader + place.tuning.direct_bytes)),
      outgoing_(place.size),
      incoming_(place.size) {
  CHECK(place_.rank < place_.size, "who takes part in a round is a rank");
  CHECK(capacity_ <= kMostAtOnce, "MPI can count the bytes of a parcel");
  auto& memory = place_.memory;
  memory.outgoing.resize(place_.size);
  memory.incoming.resize(place_.size);
  for (std::size_t peer = 0; peer < place_.size; ++peer) {
    if (!is_peer(peer)) continue;
    memory.outgoing[peer].reserve(capacity_);
    memory.incoming[peer].resize(capacity_);
  }
}

template <class F>
void StreamRounds::unless_failed(F f) {
  if (failure_) return;
  try {
    f();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void StreamRounds::prepare() {
  for (std::size_t peer = 0; peer < place_.size; ++peer)
    if (is_peer(peer)) pack(static_cast<Rank>(peer));
}

bool StreamRounds::has_more() const {
  return std::ranges::any_of(place_.memory.outgoing, [](const auto& parcel) { return parcel.size() > sizeof(Head); }) ||
         std::ranges::any_of(outgoing_, [](const Outgoing& to) { return to.chunk > 0; });
}

void StreamRounds::pack(Rank peer) {
  auto& to = outgoing_[peer];
  auto& parcel = place_.memory.outgoing[peer];
  parcel.resize(sizeof(Head));
  while (to.rest.empty() && !to.ended) {
    if (!to.next) to.next = out_.next(peer);
    if (!to.next) to.ended = true;
    else if (append(peer, *to.next)) to.next.reset();
    else break;
  }
  to.chunk = std::min({to.rest.size(), place_.tuning.chunk_bytes, kMostAtOnce});
  const Head head = to.chunk;
  std::memcpy(parcel.data(), &head, sizeof head);
  CHECK(parcel.size() <= capacity_, "a parcel has room where it is received");
}

/// Returns false if there is no room for it.
bool StreamRounds::append(Rank peer, const OutgoingMessage& message) {
  auto& parcel = place_.memory.outgoing[peer];
  CHECK(message.header.size() <= Exchange::kMaxHeader, "headers of messages are small");
  const bool large = message.payload.size() >= place_.tuning.direct_bytes && !message.payload.empty();
  const auto packed = large ? std::span<const std::byte>() : message.payload;
  if (parcel.size() + sizeof(Frame) + message.header.size() + packed.size() > capacity_) return false;
  const Frame frame{message.header.size(), message.payload.size()};
  append_bytes(parcel, bytes_of(frame));
  append_bytes(parcel, message.header);
  append_bytes(parcel, packed);
  if (large) outgoing_[peer].rest = message.payload;
  counters_.bytes_sent += static_cast<std::int64_t>(message.header.size() + packed.size());
  ++counters_.messages_sent;
  return true;
}

void StreamRounds::exchange() {
  // Per peer: the received parcel, the sent parcel and the sent chunk.
  std::vector<MPI_Request> requests(3 * place_.size, MPI_REQUEST_NULL);
  start(requests);
  take_parcels(std::span(requests).first(place_.size));
  wait_all(requests, place_.gate);
  for (std::size_t peer = 0; peer < place_.size; ++peer) finish_chunks(static_cast<Rank>(peer));
  if (failure_) std::rethrow_exception(failure_);
}

void StreamRounds::start(std::span<MPI_Request> requests) {
  const auto inside = place_.gate.enter();
  const auto size = static_cast<int>(place_.size);
  for (int peer = 0; peer < size; ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    if (!is_peer(at)) continue;
    check(MPI_Irecv(place_.memory.incoming[at].data(), static_cast<int>(capacity_), MPI_BYTE, peer, kParcelTag,
                    place_.comm, &requests[at]),
          "MPI_Irecv");
    const auto& to = outgoing_[at];
    const auto& parcel = place_.memory.outgoing[at];
    check(MPI_Isend(parcel.data(), static_cast<int>(parcel.size()), MPI_BYTE, peer, kParcelTag, place_.comm,
                    &requests[place_.size + at]),
          "MPI_Isend");
    if (to.chunk > 0)
      check(MPI_Isend(to.rest.data(), static_cast<int>(to.chunk), MPI_BYTE, peer, kChunkTag, place_.comm,
                      &requests[2 * place_.size + at]),
            "MPI_Isend");
  }
}

/// Handles parcels in the order of arrival. The request of a parcel is replaced by that of the chunk after it.
void StreamRounds::take_parcels(std::span<MPI_Request> requests) {
  std::vector<bool> taken(place_.size, false);
  taken[place_.rank] = true;
  Patience patience;
  for (std::size_t left = place_.size - 1; left > 0; patience.pause())
    for (std::size_t peer = 0; peer < place_.size; ++peer) {
      if (taken[peer]) continue;
      int done = 0;
      int bytes = 0;
      {
        const auto inside = place_.gate.enter();
        MPI_Status status;
        check(MPI_Test(&requests[peer], &done, &status), "MPI_Test");
        if (done != 0) check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
      }
      if (done == 0) continue;
      unpack(static_cast<Rank>(peer), static_cast<std::size_t>(bytes), requests[peer]);
      taken[peer] = true;
      patience.reset();
      --left;
    }
}

void StreamRounds::unpack(Rank peer, std::size_t size, MPI_Request& request) {
  CHECK(size <= place_.memory.incoming[peer].size(), "a parcel has come to where there is room for it");
  auto& from = incoming_[peer];
  const auto parcel = std::span(std::as_const(place_.memory.incoming[peer])).first(size);
  if (parcel.size() < sizeof(Head) || read<Head>(parcel) > kMostAtOnce) throw_corrupt(peer);
  from.chunk = read<Head>(parcel);
  unless_failed([&] { deliver(peer, parcel.subspan(sizeof(Head))); });
  if (from.chunk > 0) receive_chunk(peer, request);
}

void StreamRounds::deliver(Rank peer, std::span<const std::byte> frames) {
  while (!frames.empty()) frames = frames.subspan(deliver_frame(peer, frames));
  if (incoming_[peer].chunk > incoming_[peer].rest.size()) throw_corrupt(peer);
}

/// Handles the first frame and returns its size.
std::size_t StreamRounds::deliver_frame(Rank peer, std::span<const std::byte> frames) {
  auto& from = incoming_[peer];
  if (frames.size() < sizeof(Frame) || !from.rest.empty()) throw_corrupt(peer);
  const auto frame = read<Frame>(frames);
  const auto body = frames.subspan(sizeof(Frame));
  if (frame.header_size > std::min(Exchange::kMaxHeader, body.size())) throw_corrupt(peer);
  const bool large = frame.payload_size >= place_.tuning.direct_bytes && frame.payload_size > 0;
  const std::size_t packed = large ? 0 : frame.payload_size;
  if (packed > body.size() - frame.header_size) throw_corrupt(peer);
  const auto into = in_.begin(peer, body.first(frame.header_size), frame.payload_size);
  CHECK(into.size() == frame.payload_size, "a payload has room where it goes");
  counters_.bytes_received += static_cast<std::int64_t>(frame.header_size + packed);
  if (large) {
    from.rest = into;
  } else {
    std::ranges::copy(body.subspan(frame.header_size, packed), into.begin());
    in_.end(peer);
  }
  return sizeof(Frame) + frame.header_size + packed;
}

void StreamRounds::receive_chunk(Rank peer, MPI_Request& request) {
  auto& from = incoming_[peer];
  if (failure_) from.dropped.resize(from.chunk);
  CHECK(failure_ || from.chunk <= from.rest.size(), "a chunk goes to where there is room for it");
  auto* const into = failure_ ? from.dropped.data() : from.rest.data();
  const auto inside = place_.gate.enter();
  check(MPI_Irecv(into, static_cast<int>(from.chunk), MPI_BYTE, peer, kChunkTag, place_.comm, &request), "MPI_Irecv");
}

void StreamRounds::finish_chunks(Rank peer) {
  auto& to = outgoing_[peer];
  CHECK(to.chunk <= to.rest.size(), "a chunk is of the payload that is being sent");
  to.rest = to.rest.subspan(to.chunk);
  counters_.bytes_sent += static_cast<std::int64_t>(to.chunk);
  auto& from = incoming_[peer];
  if (from.chunk == 0) return;
  unless_failed([&] {
    counters_.bytes_received += static_cast<std::int64_t>(from.chunk);
    from.rest = from.rest.subspan(from.chunk);
    if (from.rest.empty()) in_.end(peer);
  });
  from.chunk = 0;
}

}  // namespace eindb::mpi
