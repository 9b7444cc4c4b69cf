#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cluster/cluster.hpp"

namespace eindb {

/// `mpirun -n N eindb --mpi [--data DIR] ...`: rank 0 is the program as ever, the other ranks are its workers.
struct MpiCommand {
  std::string data;          ///< folder of the workers' directories; empty: beside the database
  std::string memory_limit;  ///< of all statements at a worker, as in "2GB"; empty: by the machine and its ranks
  int threads = 0;           ///< that a statement may use at a rank; 0: the machine's cores by its ranks
};

/// What rank 0 runs the program with.
struct MpiSetting {
  std::shared_ptr<Cluster> cluster;  ///< null: there are no other ranks
  int threads = 1;                   ///< this rank's share of the machine
};

/// Rank 0 calls `program` and gives the exit status that it returns; other ranks work until that has ended, and give
/// 0. Throws what `program` throws, after the end of the job at all ranks, and Error as load_mpi_world().
int run_in_mpi(const MpiCommand& command, const std::string& database,
               const std::function<int(const MpiSetting&)>& program);

}  // namespace eindb
