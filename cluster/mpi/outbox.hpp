#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <vector>

#include "cluster/mpi/mpi_support.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb::mpi {

/// Messages on their way, whose bytes MPI may still look at: nothing waits for who does not take them. Outlives MPI.
/// For one thread at a time.
class Outbox {
 public:
  void send(std::vector<std::byte> bytes, Rank to, MPI_Comm comm, ThreadGate& gate);
  /// Forgets those that have gone.
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

/// The next message from `source`, which becomes the rank that it is from; nullopt: none has come.
std::optional<std::vector<std::byte>> take_message(int& source, MPI_Comm comm, ThreadGate& gate);

}  // namespace eindb::mpi
