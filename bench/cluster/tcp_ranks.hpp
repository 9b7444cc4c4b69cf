#pragma once

#include <cstddef>
#include <functional>

#include "executor/exchange.hpp"

namespace eindb::bench {

/// Runs `work` as one statement of `ranks` processes of this machine, connected over TCP on loopback, like mpirun for
/// MPI. The processes are forked from this one, which must have no threads, and waits for all of them. Returns whether
/// all succeeded; an exception in a process goes to standard error and ends that process. Throws std::system_error if
/// processes cannot be created.
bool run_over_tcp(std::size_t ranks, const std::function<void(Exchange& exchange)>& work);

}  // namespace eindb::bench
