#pragma once

#include <map>

#include "cluster/mpi/mpi_support.hpp"
#include "executor/exchange.hpp"

namespace eindb::mpi {

/// The communicators of groups. Each is created when its group first meets, and kept, since creating it takes messages.
/// Used by one thread.
class Communicators {
 public:
  explicit Communicators(ThreadGate& gate) : gate_(gate), world_(Communicator::of_world()) {}

  /// The communicator of all ranks.
  MPI_Comm world() const { return world_.get(); }
  /// The communicator of these ranks in this order. All of them must call it.
  MPI_Comm of(const Exchange::Group& group);

 private:
  ThreadGate& gate_;
  Communicator world_;
  std::map<Exchange::Group, Communicator> groups_;
};

}  // namespace eindb::mpi
