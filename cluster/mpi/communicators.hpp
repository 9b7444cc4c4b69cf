#pragma once

#include <map>

#include "cluster/mpi/mpi_support.hpp"
#include "executor/exchange.hpp"

namespace eindb::mpi {

/// The communicator of each group that has met, made when it first does; kept, as making one takes messages. For one
/// thread.
class Communicators {
 public:
  explicit Communicators(ThreadGate& gate) : gate_(gate), world_(Communicator::of_world()) {}

  /// Of all ranks.
  MPI_Comm world() const { return world_.get(); }
  /// Of these, in this order. Called by all of them.
  MPI_Comm of(const Exchange::Group& group);

 private:
  ThreadGate& gate_;
  Communicator world_;
  std::map<Exchange::Group, Communicator> groups_;
};

}  // namespace eindb::mpi
