#pragma once

#include "cluster/mpi_plugin.hpp"

namespace eindb {

/// This process's rank in the job that runs the tests. Set by main() while tests run.
MpiWorld*& world_of_tests();

}  // namespace eindb
