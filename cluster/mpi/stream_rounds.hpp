#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "cluster/mpi/mpi_support.hpp"
#include "cluster/mpi_plugin.hpp"
#include "executor/exchange.hpp"

namespace eindb::mpi {

/// Memory for parcels, which streams take one after the other: by peer.
struct ParcelMemory {
  std::vector<std::vector<std::byte>> outgoing;
  std::vector<std::vector<std::byte>> incoming;
};

/// Personalised streams between all ranks, in rounds that all take part in, each prepared, agreed upon and exchanged.
/// In a round a pair of ranks moves one parcel each way, and after it, straight from where it lies to where it goes, a
/// chunk of at most one large payload:
///
///     parcel = bytes of the chunk that follows (u64), frames
///     frame  = size of the header (u64), size of the payload (u64), header, payload unless it is large
///
/// A large payload follows in chunks, from this round on until it is complete; no other frame comes before that. So
/// small messages are copied together, large ones not at all, and a rank needs memory for two parcels per peer.
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

  /// Packs what this rank sends in the next round.
  void prepare();
  /// Whether that is anything.
  bool has_more() const;
  /// Runs the round. What a stream throws meanwhile is thrown at the end of it: others rely on this rank until then.
  void exchange();

  /// Of what was sent and received so far; without waiting.
  const ExchangeCounters& counters() const { return counters_; }

 private:
  struct Outgoing {
    std::optional<OutgoingMessage> next;  ///< taken from the stream; did not fit the last parcel
    std::span<const std::byte> rest;      ///< of the large payload that is being sent
    std::size_t chunk = 0;                ///< of it, in this round
    bool ended = false;
  };
  struct Incoming {
    std::span<std::byte> rest;       ///< of the large payload that is being received
    std::size_t chunk = 0;           ///< of it, in this round
    std::vector<std::byte> dropped;  ///< takes the chunk instead, once a stream has failed
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
