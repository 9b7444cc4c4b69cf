#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <vector>

#include "cluster/mpi/mpi_support.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb::mpi {

/// Messages being sent, with the bytes that MPI may still read, so that no sender waits for a receiver. Must outlive
/// MPI. Used by one thread at a time.
class Outbox {
 public:
  void send(std::vector<std::byte> bytes, Rank to, MPI_Comm comm, ThreadGate& gate);
  /// Frees the messages that are sent.
  void clear(ThreadGate& gate);
  std::size_t waiting_bytes() const { return waiting_bytes_; }

 private:
  struct Message {
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::list<Message> messages_;
  std::size_t waiting_bytes_ = 0;
};

/// The next message from `source`, which is set to the sender's rank; nullopt if there is none.
std::optional<std::vector<std::byte>> take_message(int& source, MPI_Comm comm, ThreadGate& gate);

}  // namespace eindb::mpi
