#pragma once

#include "cluster/mpi_plugin.hpp"

namespace eindb {

/// This process's rank among those that mpirun started the tests in. Set by main(), for as long as tests run.
MpiWorld*& world_of_tests();

}  // namespace eindb
