#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "cluster/channel.hpp"
#include "cluster/mpi/outbox.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb::mpi {

/// Control messages to another rank. A message is sent in pieces of at most a chunk; the first piece begins with the
/// size of the message (u64). An impossible size means that the channel is closed.
class MpiChannel final : public Channel {
 public:
  /// Only channels may send in `comm`. The arguments must outlive the channel.
  MpiChannel(MPI_Comm comm, ThreadGate& gate, Outbox& outbox, Rank peer, std::size_t chunk_bytes);
  ~MpiChannel() override;
  MpiChannel(const MpiChannel&) = delete;
  MpiChannel& operator=(const MpiChannel&) = delete;

  void send(std::span<const std::byte> message) override;
  std::optional<std::vector<std::byte>> receive(std::chrono::milliseconds timeout) override;
  void close() noexcept override;
  std::string peer() const override { return "rank " + std::to_string(peer_); }

 private:
  [[noreturn]] void throw_closed() const;
  void wait_for_room();
  bool add_piece(std::span<const std::byte> piece);

  const MPI_Comm comm_;
  ThreadGate& gate_;
  const Rank peer_;
  const std::size_t chunk_;
  std::atomic<bool> closed_{false};

  std::mutex sending_;  // guards outbox_, and the order of pieces
  Outbox& outbox_;

  // Used by the receiving thread:
  std::vector<std::byte> message_;
  std::uint64_t missing_ = 0;  ///< bytes missing from message_
};

}  // namespace eindb::mpi
