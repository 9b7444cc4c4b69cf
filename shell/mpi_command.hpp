#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cluster/cluster.hpp"

namespace eindb {

/// `mpirun -n N eindb --mpi [--data DIR] ...`: rank 0 runs the program, the other ranks are its workers.
struct MpiCommand {
  std::string data;  ///< folder of the workers' directories; empty: next to the database
  /// Of all statements at a worker, as in "2GB"; empty: determined by the machine and its ranks.
  std::string memory_limit;
  int threads = 0;  ///< most threads of a statement at a rank; 0: the machine's cores divided by its ranks
};

/// The cluster and the threads for rank 0's program.
struct MpiSetting {
  std::shared_ptr<Cluster> cluster;  ///< null: there are no other ranks
  int threads = 1;                   ///< this rank's share of the machine
};

/// Rank 0 calls `program` and returns its exit status; other ranks work until that has ended and return 0. Rethrows
/// exceptions of `program` after the end of the job at all ranks, and throws the errors of load_mpi_world().
int run_in_mpi(const MpiCommand& command, const std::string& database,
               const std::function<int(const MpiSetting&)>& program);

}  // namespace eindb
