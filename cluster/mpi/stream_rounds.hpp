#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "cluster/mpi/mpi_support.hpp"
#include "cluster/mpi_plugin.hpp"
#include "executor/exchange.hpp"

namespace eindb::mpi {

/// Memory for parcels, by peer; reused by consecutive streams.
struct ParcelMemory {
  std::vector<std::vector<std::byte>> outgoing;
  std::vector<std::vector<std::byte>> incoming;
};

/// Personalised streams between all ranks. They proceed in rounds of all ranks, each prepared, agreed upon and
/// exchanged. In a round each pair of ranks moves one parcel in each direction, followed by a chunk of at most one
/// large payload, which is sent and received without a copy:
///
///     parcel = bytes of the chunk that follows (u64), frames
///     frame  = size of the header (u64), size of the payload (u64), header, payload unless it is large
///
/// The chunks of a large payload follow in this and later rounds until it is complete; no other frame is sent in
/// between. Small messages are thus packed together, large ones are not copied, and a rank needs memory for two parcels
/// per peer.
class StreamRounds {
 public:
  struct Place {
    ThreadGate& gate;
    MPI_Comm comm = MPI_COMM_NULL;
    MpiTuning tuning;
    ParcelMemory& memory;
    Rank rank = 0;
    std::size_t size = 1;
  };

  StreamRounds(const Place& place, OutgoingStreams& out, IncomingStreams& in);

  /// Packs this rank's parcels for the next round.
  void prepare();
  /// Whether there is anything to send.
  bool has_more() const;
  /// Runs the round. An exception of a stream is rethrown at the end of the round, since the other ranks rely on this
  /// one until then.
  void exchange();

  /// The bytes and messages so far; does not wait.
  const ExchangeCounters& counters() const { return counters_; }

 private:
  struct Outgoing {
    std::optional<OutgoingMessage> next;  ///< taken from the stream, but did not fit the last parcel
    std::span<const std::byte> rest;      ///< remainder of the large payload being sent
    std::size_t chunk = 0;                ///< its part sent in this round
    bool ended = false;
  };
  struct Incoming {
    std::span<std::byte> rest;       ///< remainder of the large payload being received
    std::size_t chunk = 0;           ///< its part received in this round
    std::vector<std::byte> dropped;  ///< receives the chunk after a stream has failed
  };

  bool is_peer(std::size_t rank) const { return rank != place_.rank; }
  void pack(Rank peer);
  bool append(Rank peer, const OutgoingMessage& message);
  void start(std::span<MPI_Request> requests);
  void take_parcels(std::span<MPI_Request> requests);
  void unpack(Rank peer, std::size_t size, MPI_Request& request);
  void deliver(Rank peer, std::span<const std::byte> frames);
  std::size_t deliver_frame(Rank peer, std::span<const std::byte> frames);
  void receive_chunk(Rank peer, MPI_Request& request);
  void finish_chunks(Rank peer);
  template <class F>
  void unless_failed(F f);

  Place place_;
  OutgoingStreams& out_;
  IncomingStreams& in_;
  std::size_t capacity_;  ///< of a parcel
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::exception_ptr failure_;
  ExchangeCounters counters_;
};

}  // namespace eindb::mpi
